"""CREATE and ALTER: from the syntax tree to objects of the catalog, and back to text."""

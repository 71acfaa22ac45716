"""The logical and the physical algebra: relations, their trees, and the names of their columns."""

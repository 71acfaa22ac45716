"""How each node is run: one module a family of nodes, with its steps and everything that decides among them."""

"""Pages to look at: plans and differences as graphs, each one file that needs no network."""

"""HTML pages: plans and differences as graphs, and reports of runs; each is one file that needs no network."""

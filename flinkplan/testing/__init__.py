"""Unit tests of pipelines: rows go into its sources, and the rows of its sinks and views are compared."""

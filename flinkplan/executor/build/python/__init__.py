"""Python classes of a plan, run by Spark's Python workers."""

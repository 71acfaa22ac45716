"""Windows in Python, without Spark."""

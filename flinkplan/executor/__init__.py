"""From a compiled plan to a Spark Structured Streaming job."""

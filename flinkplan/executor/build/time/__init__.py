"""Event time on Spark: Flink's watermarks beside Spark's, and what waits for which source."""

"""Flink's SQL Gateway: its REST protocol, over sessions that share one running Spark."""

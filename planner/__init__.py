"""From Flink SQL to a compiled plan."""

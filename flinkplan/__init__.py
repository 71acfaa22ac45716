"""flinkplan: compile Flink SQL to a compiled plan, run the plan on Spark Structured Streaming."""

__version__ = "0.1.0"

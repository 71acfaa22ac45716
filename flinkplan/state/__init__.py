"""The state of a job as data: one form for Flink's savepoints and for checkpoints of ``flinkplan execute``."""

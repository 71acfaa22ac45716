"""From what was decided to run to Spark's frames: each function obeys the step of its node and decides nothing."""

"""From a compiled plan to what will run on Spark, as a value: decided here, once, and without Spark."""

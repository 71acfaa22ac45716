"""The state of Flink's operators in savepoints: keys, states and accumulators, by name and type."""

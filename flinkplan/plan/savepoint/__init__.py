"""What operators of Flink keep in savepoints: keys, states and accumulators, by their names and types."""

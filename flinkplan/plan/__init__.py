"""The compiled plan's document model: exec nodes, logical types, expressions, durations."""

"""Rules over aggregations."""

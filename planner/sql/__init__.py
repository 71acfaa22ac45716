"""Flink SQL text to a syntax tree with positions."""

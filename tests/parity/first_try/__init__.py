"""Statements by chance, compiled here and on real Flink: how many plans are the same at first try."""

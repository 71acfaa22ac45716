"""Scalar expressions: a plan's RexNode → a Spark column with Flink's semantics."""

from . import arithmetic, cast, collection, comparison, conditional, encoding, intervals, json, math, string, temporal
from .translate import to_column

__all__ = [
    "arithmetic",
    "cast",
    "collection",
    "comparison",
    "conditional",
    "encoding",
    "intervals",
    "json",
    "math",
    "string",
    "temporal",
    "to_column",
]

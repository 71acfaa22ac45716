"""Scalar expressions: a plan's RexNode → a Spark column with Flink's semantics."""

from . import arithmetic, cast, comparison, conditional, encoding, intervals, math, string, temporal
from .translate import to_column

__all__ = [
    "arithmetic",
    "cast",
    "comparison",
    "conditional",
    "encoding",
    "intervals",
    "math",
    "string",
    "temporal",
    "to_column",
]

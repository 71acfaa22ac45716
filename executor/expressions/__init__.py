"""Scalar expressions: a plan's RexNode → a Spark column with Flink's semantics."""

from . import arithmetic, comparison, conditional, math
from .translate import to_column

__all__ = ["arithmetic", "comparison", "conditional", "math", "to_column"]

"""Scalar expressions: a plan's RexNode → a Spark column with Flink's semantics."""

from . import (  # noqa: F401  (the modules register their functions)
    arithmetic,
    bitmap,
    cast,
    collection,
    comparison,
    conditional,
    encoding,
    intervals,
    json,
    math,
    string,
    temporal,
    variant,
)
from .translate import to_column

__all__ = ["to_column"]

"""The types of key columns, by which Spark brings rows together."""

from __future__ import annotations

from ....plan.types import APPROXIMATE, STRING, LogicalType


def key_type(t: LogicalType) -> LogicalType:
    """The type of a key column for values of ``t``.

    Floating-point numbers stand in it as their texts: Spark takes 0.0 and -0.0 for one key, Flink for two.
    """
    return STRING if t.root in APPROXIMATE else t

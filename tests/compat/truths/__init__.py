"""What Spark and Flink really do with state when the plan changes: the cases that back the rules."""

from .broken import BROKEN
from .changes import CHANGES
from .flink_only import FLINK_ONLY
from .model import Edit, Files, Row, Truth, as_compiled, left_ttl, order, shipment
from .restored import RESTORED
from .stream_windows import STREAM_WINDOWS

__all__ = ["ON_FLINK", "TRUTHS", "Edit", "Files", "Row", "Truth", "as_compiled", "left_ttl", "order", "shipment"]

TRUTHS = (*RESTORED, *BROKEN, *STREAM_WINDOWS)
"""Restarts of Spark from checkpoints."""

_NOT_ON_FLINK = {
    "rank-strategy-changed",  # the new plan cannot read what came first
    "source-connector-changed",  # what is generated is other rows each time
    "source-format-changed",  # PyFlink brings no parquet
    *(truth.name for truth in STREAM_WINDOWS),  # Flink has no such nodes
    "ttl-switched-before-2.2",  # of a release before the one that is asked
}

ON_FLINK = (*(truth for truth in TRUTHS if truth.name not in _NOT_ON_FLINK), *FLINK_ONLY, *CHANGES)
"""Restarts of Flink from savepoints."""

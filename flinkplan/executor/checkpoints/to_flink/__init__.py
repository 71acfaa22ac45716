"""What the states of the kernels here are in the states of Flink's operators for the same nodes."""

from __future__ import annotations

from . import aggregates, joins, over, patterns, ranks, rows, timed, windows
from .givers import give, given_nodes

__all__ = ["aggregates", "give", "given_nodes", "joins", "over", "patterns", "ranks", "rows", "timed", "windows"]

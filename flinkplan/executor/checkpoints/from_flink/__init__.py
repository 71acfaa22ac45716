"""What the states of Flink's operators are in the states of the kernels that run the same nodes here."""

from __future__ import annotations

from . import aggregates, joins, over, patterns, ranks, rows, timed, windows
from .carriers import carried_nodes, carry

__all__ = ["aggregates", "carried_nodes", "carry", "joins", "over", "patterns", "ranks", "rows", "timed", "windows"]

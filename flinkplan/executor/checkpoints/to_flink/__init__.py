"""What the states of the kernels here are in the states of Flink's operators for the same nodes."""

from __future__ import annotations

from . import aggregates, joins, over, ranks, rows, timed, windows
from .givers import give

__all__ = ["aggregates", "give", "joins", "over", "ranks", "rows", "timed", "windows"]

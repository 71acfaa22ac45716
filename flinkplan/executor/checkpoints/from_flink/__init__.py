"""What the states of Flink's operators are in the states of the kernels that run the same nodes here."""

from __future__ import annotations

from . import aggregates, joins, over, patterns, ranks, rows, timed, windows
from .carriers import carry

__all__ = ["aggregates", "carry", "joins", "over", "patterns", "ranks", "rows", "timed", "windows"]

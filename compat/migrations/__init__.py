"""Migrations of plans from one Flink release to the next, each small and numbered.

A migration changes how something is written, never what it does.  They are applied in order, those up to the
release that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...plan.document import Plan
from . import empties, node_versions

Release = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Migration:
    """One step: from ``since`` on, plans are written as ``apply`` makes them."""

    number: int
    since: Release
    summary: str
    apply: Callable[[Plan], Plan]


MIGRATIONS = (
    Migration(1, (2, 0), "empty lists and objects are left out", empties.leave_out),
    Migration(2, (2, 3), "sources have version 2", node_versions.newer_sources),
    Migration(3, (2, 3), "sinks without state have version 2", node_versions.newer_sinks),
)

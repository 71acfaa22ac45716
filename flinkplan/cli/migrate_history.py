"""What ``flinkplan migrate`` reads again: the files that the sources of the old job have read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..compat.migration.recipe import Migration
from ..plan.document import Plan
from ..plan.nodes import ExecNode, TableSourceScan
from ..state.moving import Moved

if TYPE_CHECKING:
    from ..executor.checkpoints.history import History


def history_of(plan: Plan, migration: Migration, read: Callable[[int], list[str]], as_of: int | None) -> History:
    """What the new plan reads again for its recipes from history.

    ``read`` gives the files that an old source has read, by its id; ``as_of`` is when the state was written.
    """
    from ..executor.checkpoints.history import History

    recipes = migration.from_history
    sinks = tuple(dict.fromkeys(recipe.sink for recipe in recipes if recipe.sink is not None))
    origins = migration.origins
    files = {
        scan.id: read(origins[scan.id]) if scan.id in origins else []
        for scan in _scans(plan, [plan.by_id[sink] for sink in sinks])
    }
    ordered = tuple(
        frozenset(scan.id for scan in _scans(plan, [plan.by_id[recipe.node]])) for recipe in recipes if recipe.in_order
    )
    return History(plan, sinks, files, as_of, ordered)


def told(history: History) -> Iterator[Moved]:
    """What is read again, for people."""
    for node, files in history.files.items():
        scan = history.plan.by_id[node]
        assert isinstance(scan, TableSourceScan)
        yield Moved(f"table {scan.scan_table_source.table.name} (node {node})", f"{len(files)} files are read again")


def written_at(file: Path) -> int | None:
    """When a file was written (epoch milliseconds); ``None`` where it is not on this machine."""
    return file.stat().st_mtime_ns // 1_000_000 if file.exists() else None


def _scans(plan: Plan, nodes: list[ExecNode]) -> list[TableSourceScan]:
    return [node for node in plan.upstream(nodes) if isinstance(node, TableSourceScan)]

"""What ``flinkplan migrate`` reads again: files that the old job has read, or history that is named."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..compat.migration.recipe import Migration
from ..plan.document import Plan
from ..plan.nodes import ExecNode, TableSourceScan
from ..plan.printable import one_line
from ..plan.record import Record
from ..plan.tables import called
from ..state.form import OperatorState

if TYPE_CHECKING:
    from ..executor.checkpoints.job_state import CheckpointState
    from ..executor.jobs.options import JobOptions


class PastOf(Record):
    """Where the past of the old job's sources is.

    ``read`` gives the files that an old source has read, by its id; ``as_of`` is when the state was written.  ``given``
    are the options of tables over history, by the names of tables: all that the tables have had, or, where the job
    ``began_with_history``, what came before the files that it has read.
    """

    read: Callable[[int], list[str]]
    as_of: int | None
    given: Mapping[str, Mapping[str, str]]
    began_with_history: bool = False


@contextmanager
def history_state(
    plan: Plan,
    migration: Migration,
    past: PastOf,
    operators: tuple[OperatorState, ...],
    job: JobOptions,
) -> Iterator[CheckpointState]:
    """The state of the new plan over the past of its sources, for the recipes from history; ``job`` has the session.

    Raises :class:`NoHistoryError` where what has been read cannot be read again.
    """
    from ..executor.checkpoints.history import ReadFiles, part_of
    from ..executor.checkpoints.warm_up import Past, WarmUp, state_after
    from ..executor.scratch import temporary_folder

    recipes = migration.from_history
    part = part_of(plan, [recipe.sink for recipe in recipes if recipe.sink is not None])
    scans = _scans(part, list(part.nodes))
    names = {name for scan in scans for name in called(scan.scan_table_source.table)}
    given = WarmUp({name: table for name, table in past.given.items() if name in names}).by_scan(part)
    origins = migration.origins
    files = {
        scan.id: past.read(origins[scan.id]) if scan.id in origins else []
        for scan in scans
        if scan.id not in given or (past.began_with_history and scan.scan_table_source.table.connector == "filesystem")
    }
    ordered = tuple(
        frozenset(scan.id for scan in _scans(part, [part.by_id[recipe.node]])) for recipe in recipes if recipe.in_order
    )
    for scan in scans:
        count = len(files.get(scan.id, ()))
        again = f"{count} file{' is' if count == 1 else 's are'} read again"
        what = [*(["its history is read"] if scan.id in given else []), *([again] if scan.id in files else [])]
        _notify(f"table {scan.scan_table_source.table.name} (node {scan.id}): {', and '.join(what)}")
    folder = temporary_folder("history-")
    try:
        read = dict(ReadFiles(files, past.as_of, ordered).tables(part, job.variables, folder))
        tables = {scan.id: [t[scan.id] for t in (given, read) if scan.id in t] for scan in scans}
        over = Past(tables, is_timed=bool(given))
        assert job.spark is not None
        with state_after(over, part, operators, job.spark, job, _notify if given else _silent) as (state, _):
            yield state
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def written_at(file: Path) -> int | None:
    """When a file was written (epoch milliseconds); ``None`` where it is not on this machine."""
    return file.stat().st_mtime_ns // 1_000_000 if file.exists() else None


def _notify(sentence: str) -> None:
    click.echo(one_line(sentence), err=True)


def _silent(sentence: str) -> None:
    """The progress of what takes no time."""


def _scans(plan: Plan, nodes: list[ExecNode]) -> list[TableSourceScan]:
    return [node for node in plan.upstream(nodes) if isinstance(node, TableSourceScan)]

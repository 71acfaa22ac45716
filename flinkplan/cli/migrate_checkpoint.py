"""``flinkplan migrate`` for checkpoints of 'flinkplan execute'."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..compat.migration.changed_sinks import SinkChange, keeps_input
from ..compat.migration.recipe import Migration, RecipeKind
from ..plan.document import Plan
from ..plan.nodes import Sink
from ..plan.printable import one_line
from ..plan.record import Record
from ..plan.uids import Uids
from ..state.form import JobState, StateError
from ..state.moving import Moved, Progress, Report, silent
from .entries import EntryProgress
from .signals import ends_raised

if TYPE_CHECKING:
    from ..executor.checkpoints.job_state import CheckpointState
    from ..executor.jobs.options import JobOptions

_SILENT = "--silent leaves it out"


class CheckpointChange(Record):
    """A checkpoint, the plans of the old and the new job, the recipes, where to write, and the changed sinks."""

    checkpoint: str
    plans: tuple[Plan, Plan]
    migration: Migration
    output: str
    variables: Mapping[str, str]
    options: Mapping[str, str]
    debug: bool
    sinks: tuple[SinkChange, ...] = ()


def migrate_checkpoint(change: CheckpointChange) -> None:
    """Write the checkpoint from which the new plan goes on.

    What changes is read as Flink's operators of the old plan keep it, and written from what those of the new plan keep.
    """
    from ..executor.jvm.quiet import quiet_jvm
    from ..executor.jvm.session import session
    from ..state.checkpoint import CheckpointRecord
    from ..state.locking import held

    progress = EntryProgress()
    with ends_raised(), held(CheckpointRecord(change.checkpoint)):
        with nullcontext() if change.debug else quiet_jvm():
            spark = session(lean=True)
        write_migrated(change, spark, _report, progress.step)
    progress.end()
    click.echo(one_line(f"wrote {change.output}"), err=True)


def write_migrated(
    change: CheckpointChange, spark: Any, report: Report = lambda moved: None, progress: Progress = silent
) -> None:
    """Write the new checkpoint in a session of Spark; nobody may write the old one meanwhile."""
    from ..compat.migration.migrated import MigratedState
    from ..executor.checkpoints.job_state import CheckpointState
    from ..executor.checkpoints.move import write_checkpoint
    from ..executor.checkpoints.predecessor import Predecessor
    from ..executor.jobs.options import JobOptions
    from ..executor.jvm.session import copy_of
    from ..state.operators import operators_of

    uids = Uids(change.options)
    old, new = change.plans
    recipes = [recipe for recipe in change.migration.recipes if recipe.old is not None]
    origins = {recipe.node: recipe.old for recipe in recipes if recipe.old is not None}
    unchanged = {recipe.node for recipe in recipes if recipe.kind is RecipeKind.SAME}
    job = JobOptions(variables=change.variables, options=change.options, lean=True, spark=spark)
    with (
        CheckpointState(old, change.checkpoint, operators_of(old, uids), spark, job, is_partial=True) as state,
        tempfile.TemporaryDirectory(prefix="flinkplan-sinks-") as folder,
    ):
        predecessor = Predecessor(state, origins, unchanged)
        migrated = MigratedState(state, change.plans, change.migration, operators_of(new, uids), uids)
        own = copy_of(spark)
        for name, value in predecessor.settings.items():
            own.conf.set(name, value)
        first = dict(_first_rows(change, state, migrated, own, job, Path(folder)))
        for name in first:
            report(Moved(f"sink {name}", "gets first what the change adds and takes back"))
        starts = predecessor.starts(new)
        write_checkpoint(new, migrated, change.output, own, job, starts, report, progress, predecessor, first)


def _first_rows(
    change: CheckpointChange,
    state: CheckpointState,
    migrated: JobState,
    spark: Any,
    job: JobOptions,
    folder: Path,
) -> Iterator[tuple[str, Any]]:
    """What each sink gets first, by the name of its query."""
    from ..executor.checkpoints.contents import SinkRows, sink_changes
    from ..executor.prepare.job_plan import queries_of

    old, new = change.plans
    names = {node.id: name for name, part in queries_of(new).items() for node in part.nodes if isinstance(node, Sink)}
    origins = {recipe.node: recipe.old for recipe in change.migration.recipes}
    for number, changed in enumerate(change.sinks):
        for keeper in (*changed.old_keepers, *(origins.get(keeper) for keeper in changed.keepers)):
            if keeper in state.refused:
                message = f"what the change adds and takes back is not known: {state.refused[keeper].message}"
                raise StateError(message, where=f"sink {changed.name}", hint=_SILENT)
        before = None
        if changed.old_sink is not None:
            before = SinkRows(old, state, changed.old_sink, changed.old_keepers, keeps_input)
        after = SinkRows(new, migrated, changed.sink, changed.keepers, keeps_input)
        places = [folder / f"{number}-{side}" for side in ("old", "new")]
        for place in places:
            place.mkdir()
        try:
            yield names[changed.sink], sink_changes(spark, before, after, job, (places[0], places[1]))
        except StateError as e:
            raise StateError(e.message, where=f"sink {changed.name}", hint=_SILENT) from None


def _report(moved: Moved) -> None:
    click.echo(one_line(str(moved)), err=True)

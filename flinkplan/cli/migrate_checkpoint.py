"""``flinkplan migrate`` for checkpoints of 'flinkplan execute'."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..compat.migration.changed_sinks import SinkChange, keeps_input
from ..compat.migration.recipe import Migration, RecipeKind
from ..plan.document import Plan
from ..plan.nodes import Sink
from ..plan.printable import one_line
from ..plan.uids import Uids
from ..state.form import JobState, StateError
from ..state.moving import Moved, Progress, Report, silent
from .entries import FOR_STATE, EntryProgress
from .migrate_history import PastOf, history_state, written_at
from .signals import ends_raised
from .state_change import StateChange

if TYPE_CHECKING:
    from ..executor.checkpoints.job_state import CheckpointState
    from ..executor.jobs.options import JobOptions

_SILENT = "--silent leaves it out"


def migrate_checkpoint(change: StateChange, sinks: Sequence[SinkChange]) -> None:
    """Write the checkpoint from which the new plan goes on.

    What changes is read as Flink's operators of the old plan keep it, and written from what those of the new plan keep.
    """
    from ..executor.jvm.quiet import quiet_jvm
    from ..executor.jvm.session import session
    from ..state.checkpoint import CheckpointRecord
    from ..state.locking import held

    progress = EntryProgress()
    with ends_raised(), held(CheckpointRecord(change.state)):
        with nullcontext() if change.debug else quiet_jvm():
            spark = session(conf={} if change.migration.from_history else FOR_STATE, lean=True)
        write_migrated(change, sinks, spark, _report, progress.step)
    progress.end()
    click.echo(one_line(f"wrote {change.output}"), err=True)


def write_migrated(
    change: StateChange,
    sinks: Sequence[SinkChange],
    spark: Any,
    report: Report = lambda moved: None,
    progress: Progress = silent,
) -> None:
    """Write the new checkpoint in a session of Spark; nobody may write the old one meanwhile.

    ``sinks`` get first what the change adds and takes back.
    """
    from ..compat.migration.migrated import MigratedState
    from ..executor.checkpoints.history import read_here
    from ..executor.checkpoints.job_state import CheckpointState
    from ..executor.checkpoints.move import write_checkpoint
    from ..executor.checkpoints.predecessor import Predecessor
    from ..executor.jobs.options import JobOptions
    from ..executor.jvm.session import copy_of
    from ..state.checkpoint import CheckpointRecord
    from ..state.operators import operators_of

    uids = Uids(change.options)
    old, new = change.plans
    job = JobOptions(variables=change.variables, options=change.options, lean=True, spark=spark)
    operators = operators_of(new, uids)
    has_history = CheckpointRecord(change.state).has_history
    with ExitStack() as stack:
        state = stack.enter_context(
            CheckpointState(old, change.state, operators_of(old, uids), spark, job, is_partial=True)
        )
        insufficient = MigratedState(state, change.plans, change.migration, operators, uids).insufficient(
            change.allowed
        )
        migration = change.migration.without(insufficient)
        unchanged = {recipe.node for recipe in migration.recipes if recipe.kind is RecipeKind.SAME}
        history, replayed = None, {recipe.node for recipe in migration.from_history}
        if replayed:
            past = PastOf(
                lambda node: read_here(state.queries.values(), node), _written_at(state), change.history, has_history
            )
            history = stack.enter_context(history_state(new, migration, past, operators, job))
        predecessor = Predecessor(state, migration.origins, unchanged, history, replayed)
        migrated = MigratedState(state, change.plans, migration, operators, uids, history)
        own = copy_of(spark)
        for name, value in predecessor.settings.items():
            own.conf.set(name, value)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="flinkplan-sinks-")))
        first = dict(_first_rows(sinks, change.plans, migration, (state, migrated), history, own, job, folder))
        for name in first:
            report(Moved(f"sink {name}", "gets first what the change adds and takes back"))
        starts = predecessor.starts(new)
        write_checkpoint(
            new, migrated, change.output, own, job, starts, report, progress, predecessor, first, has_history
        )


def _written_at(state: CheckpointState) -> int | None:
    """When the last batch of the old job was recorded."""
    folders = [(query.folder / "commits").local for query in state.queries.values()]
    files = [file for folder in folders if folder is not None and folder.is_dir() for file in folder.iterdir()]
    return max((time for file in files if (time := written_at(file)) is not None), default=None)


def _first_rows(
    sinks: Sequence[SinkChange],
    plans: tuple[Plan, Plan],
    migration: Migration,
    states: tuple[CheckpointState, JobState],
    history: CheckpointState | None,
    spark: Any,
    job: JobOptions,
    folder: Path,
) -> Iterator[tuple[str, Any]]:
    """What each sink gets first, by the name of its query; ``states`` are the old and the new one."""
    from ..executor.checkpoints.contents import SinkRows, sink_changes
    from ..executor.prepare.job_plan import queries_of

    old, new = plans
    names = {node.id: name for name, part in queries_of(new).items() for node in part.nodes if isinstance(node, Sink)}
    state, migrated = states
    origins = migration.origins
    for number, changed in enumerate(sinks):
        unknown = [state.refused.get(keeper) for keeper in changed.old_keepers]
        unknown += [state.refused.get(origins.get(keeper, -1)) for keeper in changed.keepers]
        unknown += [history.refused.get(keeper) for keeper in changed.keepers if history is not None]
        for error in unknown:
            if error is not None:
                message = f"what the change adds and takes back is not known: {error.message}"
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

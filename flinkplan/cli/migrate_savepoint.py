"""``flinkplan migrate`` for savepoints of Flink."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from pathlib import Path

import click

from ..compat.migration.recipe import Migration
from ..plan.printable import one_line
from ..plan.uids import Uids
from ..state.form import JobState, OperatorState, StateError
from .entries import EntryProgress, summary
from .migrate_history import PastOf, history_state, written_at
from .signals import ends_raised
from .state_change import StateChange

_METADATA = "_metadata"
"""The file of a savepoint that Flink writes last."""


def migrate_savepoint(change: StateChange, flink: str | None) -> None:
    """Write the savepoint from which the new plan goes on in Flink; ``flink`` is a Python that has it."""
    from ..compat.migration.checking import check_savepoint
    from ..compat.migration.migrated import MigratedState
    from ..flink.empty_savepoint import RunnablePlan, empty_savepoints
    from ..flink.savepoint import read_savepoint
    from ..flink.writing import write_savepoint

    uids, plans = Uids(change.options), change.plans
    progress = EntryProgress()
    with ends_raised(), ExitStack() as stack:
        with next(empty_savepoints([RunnablePlan(plans[1], change.options)], flink)) as empty:
            templates = empty.manifest.operators
        known = [uid for uid, _ in uids.holders(plans[0])]
        savepoint = stack.enter_context(read_savepoint(change.state, flink, known))
        check_savepoint(plans[0], savepoint, uids)
        tried = MigratedState(savepoint, plans, change.migration, templates, uids)
        migration = change.migration.without(tried.insufficient(change.allowed))
        history, when_read = None, _nothing
        if migration.from_history:
            history, when_read = _history(change, migration, savepoint, templates, stack)
        migrated = MigratedState(savepoint, plans, migration, templates, uids, history)
        manifest = write_savepoint(migrated, change.output, flink, progress, when_read)
    progress.end()
    click.echo(one_line(f"{change.output}: {summary(manifest)}"), err=True)


def _nothing() -> None:
    """What is done where no state has come from history."""


def _history(
    change: StateChange,
    migration: Migration,
    savepoint: JobState,
    templates: tuple[OperatorState, ...],
    stack: ExitStack,
) -> tuple[JobState, Callable[[], None]]:
    """The state of the new plan over what the sources have read, and what ends Spark when it has been taken."""
    from ..executor.checkpoints.history import read_in_flink
    from ..executor.checkpoints.positions import Sources
    from ..executor.jobs.options import JobOptions
    from ..executor.jvm.gateway import forget_jvm
    from ..executor.jvm.quiet import quiet_jvm
    from ..executor.jvm.session import PARTITIONS, Lifetime, session

    old, new = change.plans
    sources = Sources(old, savepoint.manifest, (), change.variables, Uids(change.options))
    as_of = written_at(Path(change.state) / _METADATA)
    past = PastOf(lambda node: read_in_flink(sources.start(node), node), as_of, change.history)
    with nullcontext() if change.debug else quiet_jvm():
        spark = session(conf={PARTITIONS: "2"}, lifetime=Lifetime.JOB, lean=True)
    job = JobOptions(variables=change.variables, options=change.options, lean=True, spark=spark)
    state = stack.enter_context(history_state(new, migration, past, templates, job))
    for recipe in migration.from_history:
        if recipe.node in state.refused:
            error = state.refused[recipe.node]
            raise StateError(error.message, where=error.where, hint=error.hint)
    return state, forget_jvm

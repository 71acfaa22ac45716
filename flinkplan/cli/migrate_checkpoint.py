"""``flinkplan migrate`` for checkpoints of 'flinkplan execute'."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

import click

from ..compat.migration.recipe import Migration
from ..plan.document import Plan
from ..plan.printable import one_line
from ..plan.record import Record
from ..plan.uids import Uids
from ..state.moving import Moved
from .entries import EntryProgress
from .signals import ends_raised


class CheckpointChange(Record):
    """A checkpoint, its plan and the new one, the recipes, and where to write; options as of ``flinkplan move``."""

    checkpoint: str
    plans: tuple[Plan, Plan]
    migration: Migration
    output: str
    variables: Mapping[str, str]
    options: Mapping[str, str]
    flink: str | None
    debug: bool


def migrate_checkpoint(change: CheckpointChange) -> None:
    """Write the checkpoint from which the new plan goes on.

    The states go through the form that Flink's operators of both plans have, in Parquet files.
    """
    from ..compat.migration.migrated import MigratedState
    from ..executor.checkpoints.job_state import CheckpointState
    from ..executor.checkpoints.move import write_checkpoint
    from ..executor.checkpoints.positions import Sources
    from ..executor.jobs.options import JobOptions
    from ..executor.jvm.quiet import quiet_jvm
    from ..executor.jvm.session import session
    from ..flink.empty_savepoint import RunnablePlan, empty_savepoints
    from ..state.form_folder import FolderState, write_folder

    uids = Uids(change.options)
    progress = EntryProgress()
    old, new = change.plans
    with ends_raised():
        templates = []
        for empty in empty_savepoints([RunnablePlan(plan, change.options) for plan in change.plans], change.flink):
            with empty:
                templates.append(empty.manifest.operators)
        with nullcontext() if change.debug else quiet_jvm():
            spark = session(lean=True)
            job = JobOptions(variables=change.variables, options=change.options, lean=True, spark=spark)
            with (
                CheckpointState(old, change.checkpoint, templates[0], spark, job) as state,
                tempfile.TemporaryDirectory(prefix="flinkplan-migrated-") as work,
            ):
                migrated = MigratedState(state, change.plans, change.migration, templates[1], uids)
                folder = Path(work) / "state"
                write_folder(migrated, folder, progress)
                counted = FolderState(folder)
                starts = Sources(new, counted.manifest, (), change.variables, uids).starts()
                write_checkpoint(new, counted, change.output, spark, job, starts, _report, progress.step)
    progress.end()
    click.echo(one_line(f"wrote {change.output}"), err=True)


def _report(moved: Moved) -> None:
    click.echo(one_line(str(moved)), err=True)

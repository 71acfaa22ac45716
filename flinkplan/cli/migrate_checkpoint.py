"""``flinkplan migrate`` for checkpoints of 'flinkplan execute'."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from ..compat.migration.recipe import Migration, RecipeKind
from ..plan.document import Plan
from ..plan.printable import one_line
from ..plan.record import Record
from ..plan.uids import Uids
from ..state.moving import Moved, Progress, Report, silent
from .entries import EntryProgress
from .signals import ends_raised

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class CheckpointChange(Record):
    """A checkpoint, the plans of the old and the new job, the recipes, and where to write."""

    checkpoint: str
    plans: tuple[Plan, Plan]
    migration: Migration
    output: str
    variables: Mapping[str, str]
    options: Mapping[str, str]
    debug: bool


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
    change: CheckpointChange, spark: SparkSession, report: Report = lambda moved: None, progress: Progress = silent
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
    with CheckpointState(old, change.checkpoint, operators_of(old, uids), spark, job, is_partial=True) as state:
        predecessor = Predecessor(state, origins, unchanged)
        migrated = MigratedState(state, change.plans, change.migration, operators_of(new, uids), uids)
        own = copy_of(spark)
        for name, value in predecessor.settings.items():
            own.conf.set(name, value)
        write_checkpoint(new, migrated, change.output, own, job, predecessor.starts(new), report, progress, predecessor)


def _report(moved: Moved) -> None:
    click.echo(one_line(str(moved)), err=True)

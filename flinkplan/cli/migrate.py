"""``flinkplan migrate``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..plan.printable import one_line
from .options import assignment, check_session_option, read_plan_text, read_reference
from .variables import variable_options

if TYPE_CHECKING:
    from ..compat.migration.changed_sinks import SinkChange
    from ..compat.migration.recipe import Allowed, Migration

_FORMATS = ("text", "json", "html")


@click.command(short_help="Carry the state of a job over to a changed plan.")
@click.argument("state")
@click.argument("new")
@click.option("-o", "--output", metavar="DIR", help="The new directory to write.")
@click.option("--old", metavar="PLAN", help="The plan of the job, if it is not beside its state.")
@click.option("--dry-run", is_flag=True, help="Only show how each state is made; write nothing.")
@click.option(
    "--allow-empty",
    "empty",
    multiple=True,
    metavar="STATE",
    help="Let this state or aggregate start empty, if it cannot be made from what is kept.",
)
@click.option(
    "--allow-mixed",
    "mixed",
    multiple=True,
    metavar="STATE",
    help="Keep this state although it is of the rows that the old query has selected.",
)
@click.option(
    "--warm-up",
    "history",
    multiple=True,
    type=assignment,
    metavar="TABLE=FILES",
    help="Compute what cannot be made otherwise from these files, the history of a table.",
)
@click.option(
    "--no-history",
    is_flag=True,
    help="Do not read the files again that the old job has read.",
)
@click.option(
    "--silent",
    is_flag=True,
    help="Do not tell the sinks what the change adds or takes back.",
)
@click.option("--format", "format_", type=click.Choice(_FORMATS), default="text", show_default=True)
@click.option("--set", "options", multiple=True, type=assignment, metavar="KEY=VALUE", help="Set an option.")
@variable_options
@click.option(
    "--flink", metavar="PLACE", help="The Flink to use: a Python with apache-flink, or the directory of a distribution."
)
@click.pass_obj
def command(
    debug: bool,
    state: str,
    new: str,
    output: str | None,
    old: str | None,
    dry_run: bool,
    empty: tuple[str, ...],
    mixed: tuple[str, ...],
    history: tuple[tuple[str, str], ...],
    no_history: bool,
    silent: bool,
    format_: str,
    options: tuple[tuple[str, str], ...],
    variables: Mapping[str, str],
    flink: str | None,
) -> int:
    """Carry the state of a job over to the plan NEW, a changed version of the plan that the job was started from.

    STATE is the checkpoint of a stopped job of 'flinkplan execute', or a savepoint or retained checkpoint of Flink. The
    command writes a checkpoint, or savepoint, from which NEW starts: each state is copied, or made from what the old
    plan has kept. It shows how before it writes anything; with --dry-run it only shows that. What cannot be made is
    listed with the reason and with a change of the query that avoids it, and nothing is written (exit code 1), unless
    --allow-empty or --allow-mixed accepts it. A STATE to accept has the name that is shown, such as
    group-aggregate.sum_amount, or is a pattern of names.

    What the old state lacks is computed anew from the files that the old job has read, if its tables are files, or with
    --warm-up from history: a file, a directory or a pattern for each table, as for 'flinkplan execute'. The plan then
    runs over them on Spark, without writing to its sinks. --no-history leaves the files alone.

    For a savepoint the command starts a JVM with Flink's classes: name Flink with --flink, or with FLINK_PYTHON or
    FLINK_HOME in the environment.
    """
    from ..compat.comparing import compare
    from ..compat.migration.changed_sinks import changed_sinks
    from ..compat.migration.null_keys import for_checkpoint, not_in_checkpoints
    from ..compat.migration.planning import migration_of
    from ..compat.migration.recipe import Allowed
    from ..compat.migration.rendering import render
    from ..compat.order_changes import order_is_enough
    from ..compat.validation import read_plan
    from ..plan.record import replace
    from ..state.checkpoint import CheckpointRecord
    from ..state.form import StateError
    from .state_change import StateChange
    from .warm_up import history_tables

    session = dict(options)
    for key, value in session.items():
        check_session_option(key, value)
    if output is None and not dry_run:
        raise click.UsageError("name the directory to write with -o, or add --dry-run.")
    source = read_reference(old if old is not None else _plan_beside(state))
    before = read_plan(source.text, source.name)
    after = read_plan(*read_plan_text(new))
    comparison = compare(before, after)
    allowed = Allowed(empty, mixed)
    tables = history_tables(after, history)
    migration = migration_of(comparison, tables)
    record = CheckpointRecord(state)
    if no_history or (record.has_history and not tables):
        migration = migration.without_history
    if record.has_history and not (no_history or tables):
        click.echo("note: the job began with history; name it with --warm-up to have it read again", err=True)
    migration = migration.settled(allowed)
    if record.exists:
        migration = for_checkpoint(comparison, migration)
    sinks = changed_sinks(comparison, migration) if record.exists and not silent else ()
    if order_is_enough(before, after) and not sinks:
        click.echo("note: only ids or orders changed: with 'compile --like' nothing need be migrated", err=True)
    shown = render(migration, allowed, format_, silent=silent or record.exists)
    click.echo(shown, nl=False, err=not dry_run)
    for sentence in not_in_checkpoints(comparison, migration) if record.exists else ():
        click.echo(one_line(f"note: {sentence}"), err=True)
    refused = _refused(migration, allowed) | _obstacles(sinks)
    if dry_run:
        return 1 if refused else 0
    assert output is not None
    if refused:
        return 1
    if Path(output).exists():
        raise StateError("there is something already", where=output, hint="name a folder that does not exist yet")
    change = StateChange(
        state=state,
        plans=(before, after),
        migration=migration,
        output=output,
        variables=variables,
        options=session,
        debug=debug,
        allowed=allowed,
        history=tables,
    )
    if record.exists:
        from .migrate_checkpoint import migrate_checkpoint

        own = {**(record.session_options or {}), **session}
        migrate_checkpoint(replace(change, options=own), sinks)
    else:
        from .migrate_savepoint import migrate_savepoint

        migrate_savepoint(change, flink)
    return 0


def _plan_beside(state: str) -> str:
    """The plan of a job beside its state: that of a checkpoint, or a file."""
    from ..plan.errors import PlanError
    from ..state.checkpoint import CheckpointRecord

    file = Path(state) / "plan.json"
    if CheckpointRecord(state).exists:
        return state
    if not file.exists():
        raise PlanError("the plan of the job is not beside its state", where=state, hint="name it with --old")
    return str(file)


def _refused(migration: Migration, allowed: Allowed) -> bool:
    """Print what prevents the migration, and tell whether there is something."""
    refusals = list(migration.refusals(allowed))
    for where, why, fix in refusals:
        click.echo(one_line(f"error: {where}: {why}" + (f"; {fix}" if fix else "")), err=True)
    return bool(refusals)


def _obstacles(sinks: Sequence[SinkChange]) -> bool:
    """Print for which sinks it is not known what the change adds and takes back, and tell whether there are any."""
    known = [(sink.name, sink.obstacle) for sink in sinks if sink.obstacle]
    for name, obstacle in known:
        click.echo(
            one_line(
                f"error: {name}: what the change adds to it and takes back is not known: {obstacle}; or add --silent"
            ),
            err=True,
        )
    return bool(known)

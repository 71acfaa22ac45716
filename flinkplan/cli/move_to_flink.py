"""``flinkplan move --to flink``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..plan.printable import one_line
from ..state.form import StateError
from .checkpoint_states import checkpoint_state
from .entries import EntryProgress, operator_name, summary
from .options import read_plan_text
from .signals import ends_raised

if TYPE_CHECKING:
    from .move import Request


def move(request: Request) -> None:
    """Write the savepoint from which a job from here goes on in Flink."""
    from ..compat.validation import read_plan
    from ..executor.checkpoints.read_positions import described
    from ..executor.jvm.gateway import forget_jvm
    from ..executor.prepare.known.pushed_watermarks import with_assigners
    from ..flink.writing import write_savepoint
    from ..plan.nodes import WatermarkAssigner

    for name, is_given in (
        ("--partitions", request.partitions is not None),
        ("--tables", request.tables is not None),
        ("--allow-non-restored-state", request.leaves_state),
    ):
        if is_given:
            raise click.UsageError(f"{name} is for --to spark alone")
    if Path(request.output).exists():
        raise StateError(
            "there is something already", where=request.output, hint="name a folder that does not exist yet"
        )
    plan = read_plan(*read_plan_text(request.plan))
    progress = EntryProgress()
    with (
        ends_raised(),
        checkpoint_state(
            request.state,
            plan,
            request.variables,
            request.options,
            request.flink,
            request.restarted,
            debug=request.debug,
        ) as state,
    ):
        for position in state.manifest.positions:
            click.echo(one_line(f"{position.uid}: {described(position)}"), err=True)
        # Spark has done its part: the memory of both JVMs together stays that of one
        manifest = write_savepoint(state, request.output, request.flink, progress, when_read=forget_jvm)
    progress.end()
    for operator in manifest.operators:
        entries = sum(table.entries or 0 for table in operator.states if table.kind.is_keyed)
        if entries:
            click.echo(one_line(f"{operator_name(operator)}: {entries} entries"), err=True)
    if any(isinstance(node, WatermarkAssigner) for node in with_assigners(plan).nodes):
        click.echo("watermarks begin anew in Flink: rows that would be late here can be on time there", err=True)
    click.echo(one_line(f"{request.output}: {summary(manifest)}"), err=True)

"""``flinkplan move --to flink``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..plan.printable import one_line
from ..state.form import StateError
from .checkpoint_states import checkpoint_state
from .entries import EntryProgress, summary
from .options import read_plan_text
from .signals import ends_raised

if TYPE_CHECKING:
    from .move import Request


def move(request: Request) -> None:
    """Write the savepoint from which a job from here goes on in Flink."""
    from ..compat.validation import read_plan
    from ..flink.writing import write_savepoint

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
        manifest = write_savepoint(state, request.output, request.flink, progress)
    progress.end()
    click.echo(one_line(f"{request.output}: {summary(manifest)}"), err=True)

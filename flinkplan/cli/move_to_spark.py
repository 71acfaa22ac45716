"""``flinkplan move --to spark``."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..plan.printable import one_line
from ..plan.uids import Uids
from ..state.form import StateError
from ..state.moving import Moved
from .entries import FOR_STATE, EntryProgress
from .options import read_plan_text
from .pipelines import restore
from .signals import ends_raised
from .state_tables import read_state

if TYPE_CHECKING:
    from .move import Request


def move(request: Request) -> None:
    """Write the checkpoint from which a job of Flink goes on here."""
    from ..compat.validation import read_plan
    from ..executor.checkpoints.move import check_operators, write_checkpoint
    from ..executor.checkpoints.positions import Sources
    from ..executor.jobs.options import JobOptions
    from ..executor.jvm.quiet import quiet_jvm
    from ..executor.jvm.session import PARTITIONS, Lifetime, session

    if Path(request.output).exists():
        raise StateError(
            "there is something already", where=request.output, hint="name a folder that does not exist yet"
        )
    plan = read_plan(*read_plan_text(request.plan))
    if request.tables is not None:
        plan = restore(plan, request.tables, request.options)
    conf = {} if request.partitions is None else {PARTITIONS: str(request.partitions)}
    options = JobOptions(conf=conf, variables=request.variables, options=request.options, lean=True)
    uids = Uids(request.options)
    with ends_raised(), read_state(request.state, request.flink, [uid for uid, _ in uids.holders(plan)]) as state:
        check_operators(plan, state, uids, _report if request.leaves_state else None)
        sources = Sources(plan, state.manifest, request.restarted, request.variables, uids)
        starts = sources.starts()
        for moved in sources.moved(starts):
            _report(moved)
        with nullcontext() if request.debug else quiet_jvm():
            spark = session(conf={**FOR_STATE, **conf}, lifetime=Lifetime.JOB, lean=True)
        progress = EntryProgress()
        write_checkpoint(plan, state, request.output, spark, options, starts, _report, progress.step)
        progress.end()
    click.echo(one_line(f"wrote {request.output}"), err=True)


def _report(moved: Moved) -> None:
    click.echo(one_line(str(moved)), err=True)

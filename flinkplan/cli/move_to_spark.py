"""``flinkplan move --to spark``."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..plan.errors import combined_error
from ..plan.nodes import TableSourceScan
from ..plan.printable import one_line
from ..state.form import StateError
from ..state.moving import NotMovedError
from .options import read_plan_text
from .signals import ends_raised
from .state_tables import opened

if TYPE_CHECKING:
    from .move import Request


def move(request: Request) -> None:
    """Write the checkpoint from which a job of Flink goes on here."""
    from ..compat.validation import read_plan
    from ..executor.checkpoints.move import write_checkpoint
    from ..executor.jobs.options import JobOptions
    from ..executor.jvm.quiet import quiet_jvm
    from ..executor.jvm.session import PARTITIONS, session

    output = Path(request.output)
    if output.exists():
        raise StateError(
            "there is something already", where=request.output, hint="name a folder that does not exist yet"
        )
    plan = read_plan(*read_plan_text(request.plan))
    left = [scan for scan in plan.nodes if isinstance(scan, TableSourceScan) and not _is_restarted(scan, request)]
    if left:
        raise combined_error([_not_moved(scan) for scan in left])
    conf = {} if request.partitions is None else {PARTITIONS: str(request.partitions)}
    options = JobOptions(conf=conf, variables=request.variables, options=request.options, lean=True)
    quiet = nullcontext() if request.debug else quiet_jvm()
    with ends_raised(), opened(request.state, request.flink, request.plan) as state, quiet:
        spark = session(conf=conf, lean=True)
        write_checkpoint(plan, state, request.output, spark, options)
    click.echo(one_line(f"wrote {request.output}"), err=True)


def _is_restarted(scan: TableSourceScan, request: Request) -> bool:
    return scan.scan_table_source.table.name in request.restarted


def _not_moved(scan: TableSourceScan) -> NotMovedError:
    name = scan.scan_table_source.table.name
    return NotMovedError(
        "the position of this source cannot be moved yet",
        where=f"table {name} (node {scan.id})",
        hint=f"--restart-source {name} has it start where the options of its table say",
    )

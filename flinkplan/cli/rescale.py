"""``flinkplan rescale``."""

from __future__ import annotations

from contextlib import nullcontext

import click

from ..plan.printable import one_line
from .signals import ends_raised


@click.command(short_help="Bring the state of a checkpoint into another number of partitions.")
@click.argument("checkpoint", type=click.Path(file_okay=False))
@click.option("--partitions", type=click.IntRange(1), required=True, metavar="N", help="How many there are to be.")
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="DIR",
    help="Write a new checkpoint here; CHECKPOINT stays as it is.",
)
@click.pass_obj
def command(debug: bool, checkpoint: str, partitions: int, output: str | None) -> None:
    """Bring the state of a stopped job's CHECKPOINT into N partitions, in which its operators run as N tasks.

    Without --output the checkpoint is replaced by the new one at once, and the old one stays beside it. The job goes on
    from the new one with the rows that it would have had. This starts Spark.
    """
    from ..executor.checkpoints.rescale import rescale
    from ..executor.jvm.quiet import quiet_jvm
    from ..executor.jvm.session import session

    with ends_raised(), nullcontext() if debug else quiet_jvm():
        done = rescale(checkpoint, partitions, output, session(lean=True))
    for name, (before, after) in done.partitions.items():
        click.echo(one_line(f"{name}: {before} → {after} partitions"), err=True)
    click.echo(one_line(f"wrote {done.folder}"), err=True)
    if done.backup is not None:
        click.echo(one_line(f"the old checkpoint is {done.backup}"), err=True)

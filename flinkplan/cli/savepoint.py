"""``flinkplan savepoint``."""

from __future__ import annotations

import click

from ..plan.printable import one_line
from .signals import ends_raised


@click.command(short_help="Copy the checkpoint of a job, which may be running.")
@click.argument("checkpoint", type=click.Path(file_okay=False))
@click.option("-o", "--output", type=click.Path(), metavar="DIR", required=True, help="The new directory to write.")
def command(checkpoint: str, output: str) -> None:
    """Copy CHECKPOINT with its plan, so that a job can continue from the copy: execute PLAN --checkpoint DIR.

    Of a stopped job the checkpoint is copied as it is. Of a running job the copy has each query's last finished batch;
    a batch that has begun is waited for. The job does not stop. The copy appears whole or not at all.
    """
    from ..executor.checkpoints.savepoint import write_savepoint

    with ends_raised():
        written = write_savepoint(checkpoint, output, _print_waiting)
    for name, batch in written.batches.items():
        click.echo(one_line(f"{name}: {'no batch' if batch is None else f'batch {batch}'}"), err=True)
    click.echo(one_line(f"wrote {written.folder}"), err=True)


def _print_waiting(name: str, batch: int) -> None:
    click.echo(one_line(f"{name}: waiting for the end of batch {batch}"), err=True)

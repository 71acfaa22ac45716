"""``flinkplan execute``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .errors import INTERRUPTED
from .options import assignment, duration

if TYPE_CHECKING:
    from ..plan.document import Plan


def job_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of the commands that run jobs; they arrive as ``job``."""
    for option in reversed(
        (
            click.option("--checkpoint", type=click.Path(file_okay=False), metavar="DIR", help="Where state is kept."),
            click.option("--master", metavar="URL", help="Spark's master; local[*] unless given."),
            click.option("--conf", multiple=True, type=assignment, metavar="KEY=VALUE", help="A setting of Spark."),
            click.option(
                "--var", multiple=True, type=assignment, metavar="NAME=VALUE", help="Replace ${NAME} in table options."
            ),
            click.option(
                "--mode",
                type=click.Choice(("bounded", "available-now", "streaming")),
                help="bounded where all sources are, else streaming, unless given.",
            ),
            click.option(
                "--trigger-interval", type=duration, metavar="DURATION", help="Time between batches, such as 10s."
            ),
            click.option("--log-format", type=click.Choice(("text", "json")), default="text", show_default=True),
            click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors."),
        )
    ):
        command = option(command)
    return command


@click.command(short_help="Run a plan on Spark.")
@click.argument("plan")
@click.option("--if-exists", is_flag=True, help="Do nothing where there is no such file.")
@job_options
@click.pass_obj
def command(debug: bool, /, plan: str, if_exists: bool, **job: Any) -> int:
    """Run PLAN (a file, or - for standard input) on Spark Structured Streaming.

    A job whose sources are all bounded runs to the end of its input, fires every open window and stops; others run
    until Ctrl-C and go on from their checkpoint when started again.
    """
    from ..plan.document import loads
    from .options import read_input

    if if_exists and plan != "-" and not Path(plan).exists():
        click.echo(f"{plan} does not exist; nothing to do", err=True)
        return 0
    text, name = read_input(plan)
    return run_plan(loads(text, name), debug=debug, **job)


def run_plan(
    plan: Plan,
    *,
    debug: bool,
    checkpoint: str | None,
    master: str | None,
    conf: tuple[tuple[str, str], ...],
    var: tuple[tuple[str, str], ...],
    mode: str | None,
    trigger_interval: int | None,
    log_format: str,
    quiet: bool,
) -> int:
    """Run a plan to its end or until interrupted; returns the exit code."""
    from ..executor.context import Mode
    from ..executor.job import JobOptions, execute
    from .jvm import quiet_jvm
    from .progress import shown

    try:
        with shown(log_format, quiet) as progress:
            options = JobOptions(
                checkpoint=checkpoint,
                master=master,
                conf=dict(conf),
                variables=dict(var),
                mode=Mode(mode) if mode else None,
                trigger_interval=(trigger_interval or 0) / 1000,
                listener=progress,
            )
            with quiet_jvm(debug):
                job = execute(plan, options)
            job.wait()
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0

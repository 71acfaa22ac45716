"""``flinkplan compile``."""

from __future__ import annotations

from pathlib import Path

import click

from .options import assignment
from .pipelines import compile_pipeline


@click.command(short_help="Compile a pipeline to a plan.")
@click.argument("pipeline")
@click.option("-o", "--output", default="-", metavar="PATH", help="Where to write the plan; standard output for -.")
@click.option("--set", "options", multiple=True, type=assignment, metavar="KEY=VALUE", help="Set an option first.")
@click.option("--if-not-exists", is_flag=True, help="Leave an existing plan alone and do nothing.")
@click.option("--force", is_flag=True, help="Replace an existing plan.")
def command(pipeline: str, output: str, options: tuple[tuple[str, str], ...], if_not_exists: bool, force: bool) -> None:
    """Compile PIPELINE (a SQL script or a spec in YAML, or - for a script on standard input) to Flink's plan.

    The plan's file appears whole or not at all; one that exists is left alone unless --force says otherwise.
    """
    from ..plan.document import dumps, write_text
    from ..plan.errors import PlanError

    if if_not_exists and force:
        raise click.UsageError("--if-not-exists and --force exclude each other.")
    exists = output != "-" and Path(output).exists()
    if exists and if_not_exists:
        return
    if exists and not force:
        raise PlanError(
            "the plan exists already", where=output, hint="--force replaces it, --if-not-exists leaves it alone"
        )
    plan = dumps(compile_pipeline(pipeline, dict(options)))
    if output == "-":
        click.echo(plan)
    else:
        write_text(output, plan)

"""``flinkplan lineage``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from .options import assignment, check_output, force_option, write_output
from .variables import variable_options

if TYPE_CHECKING:
    from ..plan.lineage import Origins
    from .inputs import PlanInput


@click.command(short_help="Show which columns of sources the columns of sinks come from.")
@click.argument("plan")
@click.option("--column", metavar="TABLE.COLUMN", help="Only what this column, or pattern, has to do with.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(("text", "json", "html", "openlineage")),
    default="text",
    show_default=True,
    help="openlineage is an event about the job, as a server of OpenLineage takes it.",
)
@click.option(
    "--set", "options", multiple=True, type=assignment, metavar="KEY=VALUE", help="Set an option (pipelines only)."
)
@variable_options
@click.option("--job-name", metavar="NAME", help="The name of the job in the event; that of the file by default.")
@click.option("-o", "--output", metavar="PATH", help="Write to this file; standard output by default.")
@force_option
def command(
    plan: str,
    column: str | None,
    format_: str,
    options: tuple[tuple[str, str], ...],
    variables: Mapping[str, str],
    job_name: str | None,
    output: str | None,
    force: bool,
) -> None:
    """Show for each column of the sinks of PLAN which columns of sources it comes from, and through which functions.

    PLAN is a compiled plan or a pipeline: a file, - for standard input, REVISION:PATH in git, or a checkpoint
    directory. Below the columns of a sink are those that decide which rows there are: by a filter, a join, a group, an
    order or a window. Columns of sources that no sink depends on are listed at the end.

    --column shows what a column of a sink comes from, or what comes from a column of a source: 'orders.amount',
    'orders.*'.
    """
    from ..plan.errors import FlinkplanError
    from ..plan.findings import did_you_mean
    from ..plan.lineage import origins_of
    from ..plan.lineage.report import lineage_json, lineage_text, only
    from ..plan.printable import json_text
    from .inputs import Compilation, read_input_plan

    if column is not None and format_ in ("html", "openlineage"):
        raise click.UsageError("--column is for --format text and json.")
    check_output(output, force)
    given = read_input_plan(plan, Compilation(dict(options)))
    if options and not given.is_pipeline:
        raise click.UsageError(f"--set is for pipelines; {plan} is a compiled plan, whose options are fixed.")
    if format_ == "openlineage":
        write_output(_event(given, variables, job_name), output)
        return
    origins = origins_of(given.plan)
    if column is not None:
        shown = only(origins, column)
        if not shown.sinks:
            raise FlinkplanError(f"no column is '{column}'", hint=did_you_mean(column, _names(origins)))
        origins = shown
    if format_ == "html":
        from .plan_pages import plan_page_of

        text = plan_page_of(given, plan, None)
    elif format_ == "json":
        text = json_text(lineage_json(origins), indent=2) + "\n"
    else:
        text = lineage_text(origins, with_unused=column is None)
    write_output(text, output)


def _names(origins: Origins) -> list[str]:
    sinks = [f"{sink.table.name}.{name}" for sink in origins.sinks for name, _ in sink.columns]
    return [*sinks, *(f"{table.name}.{name}" for table, names in origins.sources for name in names)]


def _event(given: PlanInput, variables: Mapping[str, str], job_name: str | None) -> str:
    from .openlineage.events import JobName, check_installed, described, job_event

    check_installed()
    from openlineage.client.serde import Serde

    name = JobName.of(given.source.name, job_name)
    return f"{Serde.to_json(job_event(described(given.plan, name, variables)))}\n"

"""``flinkplan diff``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..compat.reports import FORMATS
from .options import assignment, check_output, force_option, read_pipeline_text, write_output
from .variables import environment_option, project_variables

if TYPE_CHECKING:
    from ..compat.diff import Diff
    from ..compat.settings import Settings
    from .inputs import PlanInput


@click.command(short_help="Tell whether state survives a change from one plan to another.")
@click.argument("plans", metavar="OLD NEW", nargs=-1)
@click.option("--base", metavar="REVISION", help="Judge all pipelines of the project since this revision of git.")
@environment_option
@click.option("--format", "format_", type=click.Choice((*FORMATS, "html")), default="text", show_default=True)
@click.option("-o", "--output", metavar="PATH", help="Write to this file; standard output by default.")
@force_option
@click.option(
    "--fail-on",
    type=click.Choice(("compatible", "partial", "incompatible", "corrupting")),
    help="Exit with 1 for this verdict and worse ones; incompatible by default.",
)
@click.option(
    "--for",
    "engine",
    type=click.Choice(("flink", "spark")),
    help="Count the state of this engine only; both by default.",
)
@click.option(
    "--runtime",
    type=click.Choice(("apache", "vvr")),
    help="The distribution of Flink: Apache's by default, or Ververica's, which restores each aggregate by itself.",
)
@click.option(
    "--set",
    "options",
    multiple=True,
    type=assignment,
    metavar="KEY=VALUE",
    help="An option of the session that compiles the pipelines and runs the plans on Flink.",
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever the verdict is.")
@click.option("--ignore", multiple=True, metavar="RULE", help="Do not show findings of this rule.")
@click.option("--allow", multiple=True, metavar="RULE[@NODE]", help="Show findings of this rule, but accept them.")
@click.option(
    "--allow-migrated", is_flag=True, help="Accept findings over which 'flinkplan migrate' carries Flink's state."
)
@click.option("--sql", metavar="SCRIPT", help="Show this pipeline, that of NEW, beside the plans (html only).")
@click.option("--detail", is_flag=True, help="List every value that differs (text only).")
def command(
    plans: tuple[str, ...],
    base: str | None,
    env: str | None,
    format_: str,
    output: str | None,
    force: bool,
    fail_on: str | None,
    engine: str | None,
    runtime: str | None,
    options: tuple[tuple[str, str], ...],
    exit_zero: bool,
    ignore: tuple[str, ...],
    allow: tuple[str, ...],
    allow_migrated: bool,
    sql: str | None,
    detail: bool,
) -> int:
    """Compare OLD and NEW: does state survive in Flink and in a checkpoint on Spark, and do results change?

    Each is a plan or a pipeline, which is compiled: a file, - for standard input, REVISION:PATH in git, or a checkpoint
    directory. Where NEW is a pipeline, its operators get the ids that 'compile --like OLD' gives them. NODE is an id,
    a name (join, or join#2 for the second one), a type, or a pattern of these. The exit code is 1 where the verdict is
    --fail-on or worse, and 2 where the verdict is unknown or a plan cannot be read. A pattern in --allow never matches
    a corrupting finding; name its rule in full. [tool.flinkplan] in pyproject.toml may set ignore, allow, fail-on, for
    and runtime.

    With --base, the pipelines of the project are judged that have changed since the work tree and REVISION have
    diverged, in one report; arguments are the pipelines to judge instead of all. The pipelines are those that match
    the patterns of pipelines in [tool.flinkplan].
    """
    from ..compat.rendering import render
    from ..plan.errors import FlinkplanError
    from .errors import print_error
    from .inputs import Compilation, read_input_plan
    from .judging import UNJUDGED, exit_code, judged

    if base is None and len(plans) != 2:
        raise click.UsageError("Name two plans or pipelines, OLD and NEW, or a revision, --base.")
    if base is None and plans == ("-", "-"):
        raise click.UsageError("Only one of the plans can come from standard input.")
    if sql is not None and (format_ != "html" or base is not None):
        raise click.UsageError("--sql needs --format html, and two plans.")
    check_output(output, force)
    try:
        settings = _settings(ignore, allow, fail_on, engine, runtime, allow_migrated)
        if base is not None:
            from ..compat.project_rendering import render as render_project
            from .project_diff import diff_project

            project = diff_project(base, settings, dict(options), env, plans)
            verdicts, lowest = [change.verdict for change in project.changes], project.fail_on
            if format_ == "html":
                from .pages.project_page import project_page

                text = project_page(project)
            else:
                text = render_project(project, format_, paint=click.style, detail=detail)
        else:
            compilation = Compilation(dict(options), project_variables(env))
            old, new = (read_input_plan(plan, compilation) for plan in plans)
            diff = judged(old, new, settings, dict(options), locate=format_ != "text")
            verdicts, lowest = [diff.verdict], diff.fail_on
            if format_ == "html":
                text = _page(diff, new, sql)
            else:
                text = render(diff, format_, paint=click.style, detail=detail)
    except FlinkplanError as e:
        print_error(e)
        return UNJUDGED
    write_output(text, output)
    return 0 if exit_zero else exit_code(verdicts, lowest)


def _page(diff: Diff, new: PlanInput, sql: str | None) -> str:
    from ..plan.files import is_program
    from .pages.diff_page import diff_page
    from .pages.page import page

    if sql is None and (not new.is_pipeline or is_program(new.source.name)):
        return page(diff_page(diff))
    from ..planner.spec import is_spec
    from .pages.sql_places import places_in

    text, name = (new.source.text, new.source.name) if sql is None else read_pipeline_text(sql)
    return page(diff_page(diff, text, places_in(diff.new.plan, text, name), is_spec(name)))


def _settings(
    ignore: tuple[str, ...],
    allow: tuple[str, ...],
    fail_on: str | None,
    engine: str | None,
    runtime: str | None,
    allow_migrated: bool,
) -> Settings:
    """The settings of the command line, and for those not given the ones of the project."""
    from ..compat.settings import check_rule, read_settings
    from ..plan.record import replace

    for entry in (*ignore, *allow):
        check_rule(entry)
    project = read_settings(Path())
    return replace(
        project,
        ignore=(*project.ignore, *ignore),
        allow=(*project.allow, *allow),
        fail_on=fail_on or project.fail_on,
        engine=engine or project.engine,
        runtime=runtime or project.runtime,
        allow_migrated=allow_migrated or project.allow_migrated,
    )

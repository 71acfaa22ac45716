"""``flinkplan diff``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..compat.reports import FORMATS
from ..plan.record import replace
from .options import assignment, check_output, force_option, read_pipeline_text, read_reference, write_output

if TYPE_CHECKING:
    from ..compat.diff import Diff
    from ..compat.settings import Settings

FAILED, UNJUDGED = 1, 2


@click.command(short_help="Tell whether state survives a change from one plan to another.")
@click.argument("old")
@click.argument("new")
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
    help="An option of the session that runs the plans on Flink, such as table.exec.uid.format.",
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever the verdict is.")
@click.option("--ignore", multiple=True, metavar="RULE", help="Do not show findings of this rule.")
@click.option("--allow", multiple=True, metavar="RULE[@NODE]", help="Show findings of this rule, but accept them.")
@click.option("--sql", metavar="SCRIPT", help="Show this pipeline, that of NEW, beside the plans (html only).")
@click.option("--detail", is_flag=True, help="List every value that differs (text only).")
def command(
    old: str,
    new: str,
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
    sql: str | None,
    detail: bool,
) -> int:
    """Compare the plans OLD and NEW: does state survive in Flink and in a checkpoint on Spark, and do results change?

    Each plan is a file, - for standard input, REVISION:PATH in git, or a checkpoint directory. NODE is an id, a name
    (join, or join#2 for the second one), a type, or a pattern of these. The exit code is 1 where the verdict is
    --fail-on or worse, and 2 where the verdict is unknown or a plan cannot be read. A pattern in --allow never matches
    a corrupting finding; name its rule in full. [tool.flinkplan] in pyproject.toml may set ignore, allow, fail-on, for
    and runtime.
    """
    from ..compat.rendering import render
    from ..plan.errors import FlinkplanError
    from .errors import print_error

    if old == new == "-":
        raise click.UsageError("Only one of the plans can come from standard input.")
    if sql is not None and format_ != "html":
        raise click.UsageError("--sql needs --format html.")
    check_output(output, force)
    try:
        settings = _settings(ignore, allow, fail_on, engine, runtime)
        diff = _compare(old, new, settings, dict(options), locate=format_ != "text")
    except FlinkplanError as e:
        print_error(e)
        return UNJUDGED
    write_output(
        _page(diff, sql) if format_ == "html" else render(diff, format_, paint=click.style, detail=detail), output
    )
    return 0 if exit_zero else exit_code(diff)


def _page(diff: Diff, sql: str | None) -> str:
    from .pages.diff_page import diff_page
    from .pages.page import page

    if sql is None:
        return page(diff_page(diff))
    from ..planner.spec import is_spec
    from .pages.sql_places import places_in

    text, name = read_pipeline_text(sql)
    return page(diff_page(diff, text, places_in(diff.new.plan, text, name), is_spec(name)))


def _settings(
    ignore: tuple[str, ...],
    allow: tuple[str, ...],
    fail_on: str | None,
    engine: str | None,
    runtime: str | None,
) -> Settings:
    """The settings of the command line, and for those not given the ones of the project."""
    from ..compat.settings import Settings, check_rule, read_settings

    for entry in (*ignore, *allow):
        check_rule(entry)
    project = read_settings(Path())
    return Settings(
        (*project.ignore, *ignore),
        (*project.allow, *allow),
        fail_on or project.fail_on,
        engine or project.engine,
        runtime or project.runtime,
    )


def _compare(old: str, new: str, settings: Settings, options: Mapping[str, str], locate: bool) -> Diff:
    from ..compat.diff import Exceptions, Platforms, diff_texts
    from ..compat.verdicts import Verdict

    engines = (settings.engine,) if settings.engine else ("flink", "spark")
    platforms = Platforms(engines, settings.runtime == "vvr", options)
    exceptions = Exceptions(settings.ignore, settings.allow)
    diff = diff_texts(read_reference(old), read_reference(new), exceptions, platforms=platforms, locate=locate)
    return replace(diff, fail_on=Verdict(settings.fail_on or "incompatible"))


def exit_code(diff: Diff) -> int:
    """2 for an unknown verdict, 1 for the verdict to fail on and worse ones, else 0."""
    from ..compat.verdicts import Verdict

    if diff.verdict is Verdict.UNKNOWN:
        return UNJUDGED
    return FAILED if diff.verdict >= diff.fail_on else 0

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

FOUND, UNJUDGED = 1, 2


@click.command(short_help="Judge whether state survives from one plan to another.")
@click.argument("old")
@click.argument("new")
@click.option("--format", "format_", type=click.Choice((*FORMATS, "html")), default="text", show_default=True)
@click.option("-o", "--output", metavar="PATH", help="Where to write; standard output unless given.")
@force_option
@click.option(
    "--fail-on",
    type=click.Choice(("compatible", "partial", "incompatible", "corrupting")),
    help="End with 1 from this verdict on; incompatible unless given.",
)
@click.option(
    "--for",
    "engine",
    type=click.Choice(("flink", "spark")),
    help="Whose state the verdict and the exit code count; both unless given.",
)
@click.option(
    "--runtime",
    type=click.Choice(("apache", "vvr")),
    help="Whose Flink: Apache's unless given, or Ververica's, which takes aggregates over one by one.",
)
@click.option(
    "--set",
    "options",
    multiple=True,
    type=assignment,
    metavar="KEY=VALUE",
    help="An option of the session that runs the plans on Flink, such as table.exec.uid.format.",
)
@click.option("--exit-zero", is_flag=True, help="End with 0 whatever is found.")
@click.option("--ignore", multiple=True, metavar="RULE", help="Leave findings of this rule out.")
@click.option("--allow", multiple=True, metavar="RULE[@NODE]", help="Show findings of this rule, but let them pass.")
@click.option("--sql", metavar="SCRIPT", help="The pipeline of NEW, to show beside the plans (html only).")
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
    """Compare the plans OLD and NEW: does state survive in Flink, does it in a checkpoint on Spark, do results change?

    Each is a file, - for standard input, REVISION:PATH in git, or a checkpoint directory. NODE is an id, a name
    (join, or join#2 for the second one), a type, or a pattern of these. Ends with 1 where the verdict is --fail-on or
    worse, with 2 where it cannot be told. What is corrupting is passed by no pattern, only by its rule's full name.
    [tool.flinkplan] in pyproject.toml may set ignore, allow, fail-on, for and runtime.
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
        found = _compared(old, new, settings, dict(options), locate=format_ != "text")
    except FlinkplanError as e:
        print_error(e)
        return UNJUDGED
    write_output(
        _page(found, sql) if format_ == "html" else render(found, format_, paint=click.style, detail=detail), output
    )
    return 0 if exit_zero else exit_code(found)


def _page(found: Diff, sql: str | None) -> str:
    from .pages.diff_page import diff_page
    from .pages.page import page

    if sql is None:
        return page(diff_page(found))
    from ..planner.spec import is_spec
    from .pages.sql_places import places_in

    text, name = read_pipeline_text(sql)
    return page(diff_page(found, text, places_in(found.new.plan, text, name), is_spec(name)))


def _settings(
    ignore: tuple[str, ...],
    allow: tuple[str, ...],
    fail_on: str | None,
    engine: str | None,
    runtime: str | None,
) -> Settings:
    """What the command line says, and where it says nothing, the project's settings."""
    from ..compat.settings import Settings, check_rule, read_settings

    for entry in (*ignore, *allow):
        check_rule(entry)
    own = read_settings(Path())
    return Settings(
        (*own.ignore, *ignore),
        (*own.allow, *allow),
        fail_on or own.fail_on,
        engine or own.engine,
        runtime or own.runtime,
    )


def _compared(old: str, new: str, settings: Settings, options: Mapping[str, str], locate: bool) -> Diff:
    """The difference."""
    from ..compat.diff import Exceptions, Platforms, diff_texts
    from ..compat.verdicts import Verdict

    engines = (settings.engine,) if settings.engine else ("flink", "spark")
    asked = Platforms(engines, settings.runtime == "vvr", options)
    exceptions = Exceptions(settings.ignore, settings.allow)
    found = diff_texts(read_reference(old), read_reference(new), exceptions, asked=asked, locate=locate)
    return replace(found, fail_on=Verdict(settings.fail_on or "incompatible"))


def exit_code(found: Diff) -> int:
    """0 below the verdict to fail on, 1 from it on, 2 where the verdict is unknown."""
    from ..compat.verdicts import Verdict

    if found.verdict is Verdict.UNKNOWN:
        return UNJUDGED
    return FOUND if found.verdict >= found.fail_on else 0

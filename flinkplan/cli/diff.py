"""``flinkplan diff``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..plan.record import replace
from .options import read_reference, report_format

if TYPE_CHECKING:
    from ..compat.diff import Diff

FOUND, UNJUDGED = 1, 2


@click.command(short_help="Judge whether state survives from one plan to another.")
@click.argument("old")
@click.argument("new")
@report_format
@click.option(
    "--fail-on",
    type=click.Choice(("compatible", "partial", "incompatible")),
    help="End with 1 from this verdict on; incompatible unless given.",
)
@click.option("--exit-zero", is_flag=True, help="End with 0 whatever is found.")
@click.option("--ignore", multiple=True, metavar="RULE", help="Leave findings of this rule out.")
@click.option("--allow", multiple=True, metavar="RULE[@NODE]", help="Show findings of this rule, but let them pass.")
@click.option("--detail", is_flag=True, help="List every value that differs (text only).")
def command(
    old: str,
    new: str,
    format_: str,
    fail_on: str | None,
    exit_zero: bool,
    ignore: tuple[str, ...],
    allow: tuple[str, ...],
    detail: bool,
) -> int:
    """Compare the plans OLD and NEW: does state survive in Flink, does it in a checkpoint on Spark, do results change?

    Each is a file, - for standard input, REVISION:PATH in git, or a checkpoint directory. NODE is an id, a name
    (join, or join#2 for the second one), a type, or a pattern of these. Ends with 1 where the verdict is --fail-on or
    worse, with 2 where it cannot be told. [tool.flinkplan] in pyproject.toml may set ignore, allow and fail-on.
    """
    from ..compat.rendering import render
    from ..plan.errors import FlinkplanError
    from .errors import print_error

    if old == new == "-":
        raise click.UsageError("Only one of the plans can come from standard input.")
    try:
        found = _compared(old, new, ignore, allow, fail_on, locate=format_ != "text")
    except FlinkplanError as e:
        print_error(e)
        return UNJUDGED
    click.echo(render(found, format_, paint=click.style, detail=detail), nl=False)
    return 0 if exit_zero else exit_code(found)


def _compared(
    old: str, new: str, ignore: tuple[str, ...], allow: tuple[str, ...], fail_on: str | None, locate: bool
) -> Diff:
    """The difference; the project's settings count where the command line says nothing."""
    from ..compat.diff import Exceptions, diff_texts
    from ..compat.settings import check_rule, read_settings
    from ..compat.verdicts import Verdict

    for entry in (*ignore, *allow):
        check_rule(entry)
    settings = read_settings(Path())
    exceptions = Exceptions((*settings.ignore, *ignore), (*settings.allow, *allow))
    found = diff_texts(read_reference(old), read_reference(new), exceptions, locate=locate)
    return replace(found, fail_on=Verdict(fail_on or settings.fail_on or "incompatible"))


def exit_code(found: Diff) -> int:
    """0 below the verdict to fail on, 1 from it on, 2 where the verdict is unknown."""
    from ..compat.verdicts import Verdict

    if found.verdict is Verdict.UNKNOWN:
        return UNJUDGED
    return FOUND if found.verdict >= found.fail_on else 0

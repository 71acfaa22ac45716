"""``flinkplan validate``."""

from __future__ import annotations

import click

from .options import read_plan_text, report_format


@click.command(short_help="Find what is wrong with a plan.")
@click.argument("plan")
@report_format
@click.option("--strict", is_flag=True, help="Fail on warnings, too.")
def command(plan: str, format_: str, strict: bool) -> int:
    """Check PLAN (a file, or - for standard input): its JSON, its schema, then what it means.

    Everything is reported at once, with the line. Ends with 1 where an error is found.
    """
    from ..compat.reports import Report, render
    from ..compat.validation import RULES, validate_text

    text, name = read_plan_text(plan)
    findings = validate_text(text, name)
    report = Report("validate", name, findings, RULES, {name: text}, strict)
    click.echo(render(report, format_), nl=False)
    return 1 if any(map(report.fails, findings)) else 0

"""``flinkplan validate``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import click

from .options import assignment, check_session_option, read_plan_text, report_format
from .pipelines import restore
from .variables import allow_database, variable_options

if TYPE_CHECKING:
    from ..executor.prepare.checks import Refusal
    from ..plan.document import Plan
    from ..plan.findings import Finding


@click.command(short_help="Check a plan for errors.")
@click.argument("plan")
@click.option(
    "--for",
    "engine",
    type=click.Choice(("spark", "flink")),
    help="Where the plan will be executed. What this engine refuses is then an error, and not a note.",
)
@variable_options
@allow_database
@click.option("--set", "options", multiple=True, type=assignment, metavar="KEY=VALUE", help="Set an option.")
@click.option("--tables", metavar="SCRIPT", help="Replace tables of the plan by those of this script.")
@report_format
@click.option("--strict", is_flag=True, help="Fail on warnings, too.")
def command(
    plan: str,
    engine: str | None,
    variables: Mapping[str, str],
    databases: tuple[str, ...],
    options: tuple[tuple[str, str], ...],
    tables: str | None,
    format_: str,
    strict: bool,
) -> int:
    """Check PLAN (a file, or - for standard input): its JSON, its schema, then its meaning.

    All findings are reported at once, with their lines. The exit code is 1 if there is an error. --var, --set, --tables
    and --allow-database are those of execute. No JVM is started.
    """
    from ..compat.reports import Report, render
    from ..compat.validation import REFUSED_BY_FLINK, RULES, starts_on_flink, validate_text
    from ..executor.prepare.checks import refusals
    from ..plan.document import loads
    from ..plan.findings import Severity, errors
    from ..plan.record import replace
    from ..plan.text.positions import Positions

    for key, value in options:
        check_session_option(key, value)
    text, name = read_plan_text(plan)
    findings = validate_text(text, name)
    if engine == "flink":
        findings = [replace(f, severity=Severity.ERROR) if f.rule in REFUSED_BY_FLINK else f for f in findings]
    if not errors(findings):
        loaded = loads(text, name)
        if tables is not None:
            loaded = restore(loaded, tables, dict(options))
        plan_refusals = refusals(loaded, variables, dict(options), databases)
        findings += _engine_findings(loaded, text, name, engine, plan_refusals)
        if engine == "flink":
            positions = Positions(text, name)
            findings += (replace(f, location=positions.location(f.pointer)) for f in starts_on_flink(loaded))
    report = Report("validate", name, findings, RULES, {name: text}, strict)
    click.echo(render(report, format_), nl=False)
    return 1 if any(map(report.fails, findings)) else 0


def _engine_findings(
    plan: Plan, text: str, name: str, engine: str | None, refusals: Iterable[Refusal]
) -> Iterator[Finding]:
    """The findings about what the engine that will execute the plan refuses."""
    from ..executor.prepare.checks import Subject
    from ..plan.findings import Finding, Severity
    from ..plan.text.positions import Positions, pointer

    positions = Positions(text, name)
    severity = Severity.NOTE if engine is None else Severity.ERROR

    def finding(refusal: Refusal, rule: str, severity: Severity) -> Finding:
        error = refusal.error
        if refusal.index is None:
            return Finding(rule, severity, error.message, location=positions.location(""), hint=error.hint)
        node = plan.nodes[refusal.index]
        node_pointer = pointer("nodes", refusal.index, *refusal.steps)
        location = positions.location(node_pointer)
        return Finding(rule, severity, error.message, node_pointer, location, node.id, node.type, error.hint)

    for refusal in refusals:
        match refusal.subject:
            case Subject.OPTION if engine is not None:
                yield finding(refusal, "table-option", severity)
            case Subject.UNLISTED if engine != "flink":
                yield finding(refusal, "option-unlisted", Severity.ERROR)
            case Subject.NODE | Subject.TABLE | Subject.DATABASE if engine != "flink":
                yield finding(refusal, f"spark-{refusal.subject.value}", severity)
            case Subject.FILES if engine == "spark":
                yield finding(refusal, "spark-files", severity)
            case Subject.VARIABLE | Subject.DEFINITION if engine == "spark":
                yield finding(refusal, f"spark-{refusal.subject.value}", Severity.NOTE)

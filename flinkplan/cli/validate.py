"""``flinkplan validate``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import click

from .options import assignment, check_session_option, read_plan_text, report_format
from .pipelines import restore
from .variables import allow_database, variable_options

if TYPE_CHECKING:
    from ..executor.checks import Refusal
    from ..plan.document import Plan
    from ..plan.findings import Finding


@click.command(short_help="Find what is wrong with a plan.")
@click.argument("plan")
@click.option(
    "--for",
    "engine",
    type=click.Choice(("spark", "flink")),
    help="Where the plan is to be executed. What is refused there is an error; otherwise a note.",
)
@variable_options
@allow_database
@click.option("--set", "options", multiple=True, type=assignment, metavar="KEY=VALUE", help="Set an option first.")
@click.option("--tables", metavar="SCRIPT", help="Tables to take in place of the plan's, which may only name them.")
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
    """Check PLAN (a file, or - for standard input): its JSON, its schema, then what it means.

    Everything is reported at once, with the line. Ends with 1 where an error is found. --var, --set, --tables
    and --allow-database are those of execute. No JVM is started.
    """
    from ..compat.reports import Report, render
    from ..compat.validation import REFUSED_BY_FLINK, RULES, starts_on_flink, validate_text
    from ..executor.checks import refusals
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
        held = loads(text, name)
        whole = held if tables is None else restore(held, tables, dict(options))
        findings += _of_engine(whole, text, name, engine, refusals(whole, variables, dict(options), databases))
        if engine == "flink":
            places = Positions(text, name)
            findings += (replace(f, location=places.location(f.pointer)) for f in starts_on_flink(whole))
    report = Report("validate", name, findings, RULES, {name: text}, strict)
    click.echo(render(report, format_), nl=False)
    return 1 if any(map(report.fails, findings)) else 0


def _of_engine(plan: Plan, text: str, name: str, engine: str | None, refusals: Iterable[Refusal]) -> Iterator[Finding]:
    """What is wrong with the plan for the engine that is to execute it."""
    from ..executor.checks import Subject
    from ..plan.findings import Finding, Severity
    from ..plan.text.positions import Positions, pointer

    positions = Positions(text, name)
    severity = Severity.NOTE if engine is None else Severity.ERROR

    def found(refusal: Refusal, rule: str, severity: Severity) -> Finding:
        error = refusal.error
        if refusal.index is None:
            return Finding(rule, severity, error.message, location=positions.location(""), hint=error.hint)
        node = plan.nodes[refusal.index]
        place = pointer("nodes", refusal.index, *refusal.steps)
        location = positions.location(place)
        return Finding(rule, severity, error.message, place, location, node.id, node.type, error.hint)

    for refusal in refusals:
        match refusal.subject:
            case Subject.OPTION if engine is not None:
                yield found(refusal, "table-option", severity)
            case Subject.UNLISTED if engine != "flink":
                yield found(refusal, "option-unlisted", Severity.ERROR)
            case Subject.NODE | Subject.TABLE | Subject.DATABASE if engine != "flink":
                yield found(refusal, f"spark-{refusal.subject.value}", severity)
            case Subject.FILES if engine == "spark":
                yield found(refusal, "spark-files", severity)
            case Subject.VARIABLE | Subject.DEFINITION if engine == "spark":
                yield found(refusal, f"spark-{refusal.subject.value}", Severity.NOTE)

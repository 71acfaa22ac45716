"""``flinkplan validate``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from ..plan.record import Record, replace
from .options import assignment, check_session_option, report_format
from .variables import allow_database, variable_options

if TYPE_CHECKING:
    from ..compat.diff import Locate, Source
    from ..executor.prepare.checks import Refusal
    from ..plan.document import Plan
    from ..plan.findings import Finding
    from .inputs import Tree


@click.command(short_help="Check plans and pipelines for errors.")
@click.argument("plans", metavar="[PLAN]...", nargs=-1)
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
    plans: tuple[str, ...],
    engine: str | None,
    variables: Mapping[str, str],
    databases: tuple[str, ...],
    options: tuple[tuple[str, str], ...],
    tables: str | None,
    format_: str,
    strict: bool,
) -> int:
    """Check each PLAN: of a compiled plan its JSON, its schema, then its meaning; of a pipeline that it compiles.

    PLAN is a file, - for standard input, REVISION:PATH in git, or a checkpoint directory. Without one, the pipelines of
    the project are checked, which are those of [tool.flinkplan] in pyproject.toml.

    All findings are reported at once, with their lines. The exit code is 1 if there is an error. --var, --set, --tables
    and --allow-database are those of execute. No JVM is started.
    """
    from ..compat.reports import Report, render
    from ..compat.validation import RULES
    from .pipelines import project_pipelines

    checks = Checks(engine, variables, dict(options), databases, tables)
    findings: list[Finding] = []
    sources: dict[str | None, str] = {}
    for plan in plans or project_pipelines():
        of_plan, source = checks.findings(plan)
        findings += of_plan
        sources[source.file or source.name] = source.text
    subject = ", ".join(filter(None, sources)) if len(sources) < 4 else f"{len(sources)} plans"
    report = Report("validate", subject, findings, RULES, sources, strict)
    click.echo(render(report, format_), nl=False)
    return 1 if any(map(report.fails, findings)) else 0


class Checks(Record):
    """What plans and pipelines are checked for: by which engine they are executed, and with which values."""

    engine: str | None
    variables: Mapping[str, str]
    options: Mapping[str, str]
    databases: Sequence[str]
    tables: str | None

    def findings(self, reference: str) -> tuple[list[Finding], Source]:
        """The findings about a plan or pipeline, and its text.  Raises :class:`PlanError` where there is none."""
        from .inputs import is_pipeline, open_tree

        with open_tree(reference) as (tree, path, source):
            if is_pipeline(source):
                return list(self._of_pipeline(tree, path, source)), source
        return list(self._of_plan(source)), source

    def _of_plan(self, source: Source) -> Iterator[Finding]:
        from ..compat.diff import located_in
        from ..compat.validation import validate_text
        from ..plan.document import loads
        from ..plan.findings import errors

        for key, value in self.options.items():
            check_session_option(key, value)
        name = source.file or source.name
        findings = [self._for_engine(f) for f in validate_text(source.text, name)]
        yield from findings
        if not errors(findings):
            yield from self._of_execution(loads(source.text, name), located_in(source))

    def _of_pipeline(self, tree: Tree, path: str, source: Source) -> Iterator[Finding]:
        from ..advice import RULES as ADVICE
        from ..compat.validation import PIPELINE, validate_text
        from ..plan.document import dumps
        from ..plan.errors import FlinkplanError, Location
        from ..plan.findings import Finding, Severity
        from ..table.modules import isolated_modules
        from .inputs import Compilation, PlanInput, compile_in

        warnings: list[Finding] = []
        try:
            with isolated_modules():
                plan = compile_in(tree, path, source, Compilation(self.options, warn=warnings.append))
        except FlinkplanError as e:
            for error in e.errors:
                where = error.where if isinstance(error.where, Location) else Location(source.file or source.name)
                message = (
                    error.message if isinstance(error.where, Location | None) else f"{error.where}: {error.message}"
                )
                yield Finding(PIPELINE, Severity.ERROR, message, location=where, hint=error.hint)
            return
        locate = PlanInput(source, plan, True).located()
        yield from map(self._for_engine, warnings)
        for finding in validate_text(dumps(plan), source.name):
            if finding.rule not in ADVICE:  # the compilation has warned of these
                node = None if finding.node is None else plan.by_id.get(finding.node)
                yield self._for_engine(replace(finding, location=locate(finding.pointer, node)))
        yield from self._of_execution(plan, locate)

    def _for_engine(self, finding: Finding) -> Finding:
        """The finding, which is an error where the engine refuses the plan for it."""
        from ..compat.validation import REFUSED_BY_FLINK
        from ..plan.findings import Severity

        is_refused = self.engine == "flink" and finding.rule in REFUSED_BY_FLINK
        return replace(finding, severity=Severity.ERROR) if is_refused else finding

    def _of_execution(self, plan: Plan, locate: Locate) -> Iterator[Finding]:
        """The findings about what the engine refuses of a valid plan."""
        from ..compat.validation import starts_on_flink
        from ..executor.prepare.checks import refusals
        from .pipelines import restore

        if self.tables is not None:
            plan = restore(plan, self.tables, self.options)
        refused = refusals(plan, self.variables, self.options, self.databases)
        yield from _engine_findings(plan, locate, self.engine, refused)
        if self.engine == "flink":
            for finding in starts_on_flink(plan):
                node = None if finding.node is None else plan.by_id.get(finding.node)
                yield replace(finding, location=locate(finding.pointer, node))


def _engine_findings(plan: Plan, locate: Locate, engine: str | None, refusals: Iterable[Refusal]) -> Iterator[Finding]:
    """The findings about what the engine that will execute the plan refuses."""
    from ..executor.prepare.checks import Subject
    from ..plan.findings import Finding, Severity
    from ..plan.text.positions import pointer

    severity = Severity.NOTE if engine is None else Severity.ERROR

    def finding(refusal: Refusal, rule: str, severity: Severity) -> Finding:
        error = refusal.error
        if refusal.index is None:
            return Finding(rule, severity, error.message, location=locate("", None), hint=error.hint)
        node = plan.nodes[refusal.index]
        node_pointer = pointer("nodes", refusal.index, *refusal.steps)
        location = locate(node_pointer, node)
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

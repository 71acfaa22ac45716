"""Validates the text of a plan: first its JSON Schema, then its meaning; all findings are reported at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ... import advice
from ...plan.cloned_exchanges import with_edges_of_clones
from ...plan.codec import write_object
from ...plan.document import Plan, loads
from ...plan.errors import FlinkplanError, Location, PlanError, combined_error
from ...plan.findings import Finding, Severity, errors
from ...plan.record import replace
from ...plan.text.json_text import parse_json
from ...plan.text.positions import Positions
from .columns import check_element_names, check_output_types, check_reads
from .contents import check_functions, check_types_and_expressions
from .raw import RawPlan
from .rules import PIPELINE, REFUSED_BY_FLINK, RULES
from .shape import check_schema
from .starts import starts_on_flink
from .states import check_states
from .structure import (
    check_ends,
    check_fields,
    check_keys,
    check_run,
    check_structure,
    check_types,
    check_version,
)
from .tables import check_tables

__all__ = ["PIPELINE", "REFUSED_BY_FLINK", "RULES", "check_plan", "read_plan", "starts_on_flink", "validate_text"]

CHECKS: tuple[Callable[[RawPlan], Iterator[Finding]], ...] = (
    check_keys,
    check_version,
    check_types,
    check_fields,
    check_structure,
    check_ends,
    check_run,
    check_states,
    check_types_and_expressions,
    check_reads,
    check_output_types,
    check_element_names,
    check_tables,
    check_functions,
)

_MORE_PRECISE_THAN_SCHEMA = {"plan-keys", "plan-version", "node-type", "node-version", "state-ttl"}
"""Rules whose findings replace those of the schema about the same value."""


def validate_text(text: str, file: str | None = None) -> list[Finding]:
    """All findings about a plan, in the order of the text.  Never raises an error for an invalid text."""
    try:
        document = parse_json(text, file)
    except PlanError as e:
        where = e.where if isinstance(e.where, Location) else Location(file)
        return [Finding("json", Severity.ERROR, e.message, location=where, hint=e.hint)]
    try:
        return _findings(RawPlan(with_edges_of_clones(document)), Positions(text, file))
    except RecursionError:
        return [Finding("json", Severity.ERROR, "the plan is nested too deeply", location=Location(file))]


def _findings(plan: RawPlan, positions: Positions) -> list[Finding]:
    meaning = [finding for check in CHECKS for finding in check(plan)]
    precise = {f.pointer for f in meaning if f.rule in _MORE_PRECISE_THAN_SCHEMA}
    schema = [f for f in check_schema(plan) if f.pointer not in precise]
    meaning = [f for f in meaning if f.rule != "type" or not _contains_any(f.pointer, schema)]
    advice_ = () if errors((*schema, *meaning)) else _advice(positions.text)
    located = [replace(f, location=positions.location(f.pointer)) for f in (*schema, *meaning, *advice_)]
    return sorted(located, key=lambda f: ((f.location and f.location.line) or 0, f.pointer, f.rule))


def _advice(text: str) -> list[Finding]:
    """The warnings about a plan without errors."""
    try:
        plan = loads(text)
        return [*advice.plan_findings(plan), *advice.all_table_findings(plan)]
    except FlinkplanError:
        return []


def read_plan(text: str, file: str | None = None) -> Plan:
    """The plan in a text, to be executed.  Raises :class:`PlanError` for all errors in it at once."""
    findings = errors(validate_text(text, file))
    if findings:
        raise combined_error([PlanError(_message(f), where=f.location, hint=f.hint) for f in findings])
    return loads(text, file)


def _message(finding: Finding) -> str:
    return finding.message if finding.node is None else f"node {finding.node}: {finding.message}"


def check_plan(plan: Plan) -> None:
    """Raise :class:`PlanError` for invalid state entries, which Flink refuses only when it runs the plan."""
    states = [{"id": n.id, "type": n.type, "state": [write_object(s) for s in n.states]} for n in plan.nodes]
    edges = [{"source": edge.source, "target": edge.target} for edge in plan.edges]
    for finding in errors(check_states(RawPlan({"nodes": states, "edges": edges}))):
        raise PlanError(finding.message, where=f"node {finding.node} ({finding.pointer})", hint=finding.hint)


def _contains_any(pointer: str, findings: Iterable[Finding]) -> bool:
    return any(f.pointer == pointer or f.pointer.startswith(pointer + "/") for f in findings)

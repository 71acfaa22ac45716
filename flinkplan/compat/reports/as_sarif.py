"""For code scanning: SARIF 2.1.0."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from ...plan.findings import Finding, Severity
from ...plan.printable import json_text
from .model import Report, sentence

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def render(report: Report) -> str:
    """The report as one SARIF run."""
    used = sorted({f.rule for f in report.findings})
    driver = {"name": "flinkplan", "rules": [_rule(report, rule) for rule in used]}
    run = {"tool": {"driver": driver}, "results": [_result(report, f) for f in report.findings]}
    return json_text({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(report: Report, rule_id: str) -> dict[str, Any]:
    rule = report.rules.get(rule_id)
    if rule is None:
        return {"id": rule_id}
    return {
        "id": rule_id,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.explanation},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(report: Report, finding: Finding) -> dict[str, Any]:
    place = finding.location
    physical: dict[str, Any] = {"artifactLocation": {"uri": quote(report.file(finding))}}
    if place and place.line:
        region = {"startLine": place.line, "startColumn": place.column, "endColumn": place.end_column}
        physical["region"] = {key: value for key, value in region.items() if value}
    return {
        "ruleId": finding.rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": sentence(finding) + (f". {finding.hint}" if finding.hint else "")},
        "locations": [
            {
                "physicalLocation": physical,
                "logicalLocations": [{"fullyQualifiedName": finding.pointer or "/", "kind": "member"}],
            }
        ],
    }

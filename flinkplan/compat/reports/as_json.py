"""For programs: one JSON object.  ``version`` is increased when a field is removed or changes its meaning."""

from __future__ import annotations

from typing import Any

from ...plan.findings import Finding
from ...plan.printable import json_text
from .model import Report

VERSION = 1


def render(report: Report) -> str:
    """The report as a JSON object."""
    document = {
        "version": VERSION,
        "command": report.command,
        "subject": report.subject,
        "findings": [_finding(report, f) for f in report.findings],
    }
    return json_text(document, indent=2)


def _finding(report: Report, finding: Finding) -> dict[str, Any]:
    place = finding.location
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "message": finding.message,
        "hint": finding.hint,
        "node": finding.node,
        "nodeType": finding.node_type,
        "pointer": finding.pointer,
        "file": report.file(finding),
        "line": place and place.line,
        "column": place and place.column,
    }

"""For GitHub Actions: workflow commands that become annotations of the changed lines."""

from __future__ import annotations

from ...plan.findings import Finding, Severity
from ...plan.printable import printable
from .model import Report, sentence

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: Report) -> str:
    """One workflow command a finding."""
    return "\n".join(_command(report, finding) for finding in report.findings)


def _command(report: Report, finding: Finding) -> str:
    place = finding.location
    properties = {"title": f"flinkplan {finding.rule}", "file": report.file(finding)}
    if place and place.line:
        properties["line"] = str(place.line)
        if place.column:
            properties["col"] = str(place.column)
    message = sentence(finding) + (f"\nhint: {finding.hint}" if finding.hint else "")
    attributes = ",".join(f"{k}={_escape(v, ':,')}" for k, v in properties.items())
    return f"::{_COMMANDS[finding.severity]} {attributes}::{_escape(message)}"


def _escape(text: str, more: str = "") -> str:
    text = printable(text)
    for char in "%\r\n" + more:
        text = text.replace(char, f"%{ord(char):02X}")
    return text

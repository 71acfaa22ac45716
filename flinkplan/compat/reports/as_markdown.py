"""For comments on a pull request: a table."""

from __future__ import annotations

import re

from ...plan.findings import Finding
from ...plan.printable import printable
from .model import Report, title


def render(report: Report) -> str:
    """The report as a Markdown table under its summary."""
    lines = [f"**flinkplan {report.command}**: {report.summary}"]
    if report.findings:
        lines += ["", "| | rule | where | what | fix |", "|---|---|---|---|---|"]
        lines += [_row(finding) for finding in report.findings]
    return "\n".join(lines)


def _row(finding: Finding) -> str:
    place = finding.location
    line = f"line {place.line}" if place and place.line else ""
    where = ", ".join(part for part in (title(finding), line) if part)
    cells = (finding.severity.value, f"`{finding.rule}`", where, finding.text, finding.hint or "")
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(text: str) -> str:
    """A text in a table cell, without line breaks, HTML and links."""
    plain = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", printable(text).replace("\n", " "))
    return plain.replace("|", "\\|").replace("](", "]\\(")

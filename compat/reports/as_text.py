"""For people: each finding with its line, a caret and a hint; a summary at the end."""

from __future__ import annotations

from collections.abc import Iterator

from ...plan.findings import Finding
from .model import Report, sentence

_WIDTH = 160


def render(report: Report) -> str:
    """The report as plain text; a terminal's colours are the command's affair."""
    blocks = ["\n".join(_finding(report, finding)) for finding in report.findings]
    return "\n\n".join([*blocks, report.summary])


def _finding(report: Report, finding: Finding) -> Iterator[str]:
    yield f"{finding.severity.value}[{finding.rule}]: {sentence(finding)}"
    yield f" --> {finding.location or report.subject}" + (f" ({finding.pointer})" if finding.pointer else "")
    quoted = report.quoted(finding)
    if quoted and finding.location:
        text, start, end = quoted
        number = str(finding.location.line)
        margin = " " * len(number)
        yield f"{margin} |"
        yield f"{number} | {text[:_WIDTH]}"
        if start < _WIDTH:
            yield f"{margin} | {' ' * start}{'^' * (min(end, len(text), _WIDTH) - start or 1)}"
    if finding.hint:
        yield f"hint: {finding.hint}"

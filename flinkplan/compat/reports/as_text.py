"""For people: each finding with its line, a caret and a hint; a summary at the end."""

from __future__ import annotations

from collections.abc import Iterator

from ...plan.findings import Finding
from ...plan.printable import continued, one_line, printable
from ...plan.text.snippets import underline
from .model import Report, sentence


def render(report: Report) -> str:
    """The report as plain text without colours."""
    blocks = ["\n".join(_finding(report, finding)) for finding in report.findings]
    return printable("\n\n".join([*blocks, report.summary]))


def _finding(report: Report, finding: Finding) -> Iterator[str]:
    yield f"{finding.severity.value}[{finding.rule}]: {continued(sentence(finding))}"
    where = f"{finding.location or report.subject}" + (f" ({finding.pointer})" if finding.pointer else "")
    yield f" --> {one_line(where)}"
    line = report.line(finding)
    if line is not None and finding.location:
        yield underline(line, finding.location)
    if finding.hint:
        yield f"hint: {continued(finding.hint)}"

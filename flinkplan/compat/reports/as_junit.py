"""For test reports: JUnit XML, one test case a finding.

Findings that make the command fail are failures; other findings are the output of test cases that pass.
"""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from ...plan.findings import Finding
from ...plan.printable import continued, one_line, printable
from .model import Report, sentence


def render(report: Report) -> str:
    """The report as one test suite; without findings one case passes."""
    nothing = f'  <testcase classname={quoteattr(one_line(report.subject))} name="no findings"/>'
    cases = [_case(report, f) for f in report.findings] or [nothing]
    failures = sum(map(report.fails, report.findings))
    head = (
        f"<testsuite name={quoteattr(f'flinkplan {report.command}')} "
        f'tests="{len(cases)}" failures="{failures}" errors="0">'
    )
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *cases, "</testsuite>"])


def _case(report: Report, finding: Finding) -> str:
    hint = f"hint: {finding.hint}" if finding.hint else ""
    details = [part for part in (str(finding.location or report.subject), finding.pointer, hint) if part]
    message = sentence(finding)
    if report.fails(finding):
        kind, message = quoteattr(finding.severity.value), quoteattr(printable(message))
        result = f"<failure type={kind} message={message}>{_text(details)}</failure>"
    else:
        result = f"<system-out>{_text([f'{finding.severity.value}: {message}', *details])}</system-out>"
    name = quoteattr(one_line(f"{finding.rule} {finding.pointer}"))
    return (
        f"  <testcase classname={quoteattr(one_line(report.file(finding)))} name={name}>\n    {result}\n  </testcase>"
    )


def _text(lines: list[str]) -> str:
    return escape("\n".join(map(continued, lines)))

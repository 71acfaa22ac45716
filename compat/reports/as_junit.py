"""For test reports: JUnit XML, one failed test case a finding, or one passed where there is none."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from ...plan.findings import Finding, Severity
from .model import Report, sentence


def render(report: Report) -> str:
    """The report as one test suite; notes do not fail."""
    failing = [f for f in report.findings if f.severity is not Severity.NOTE]
    cases = [_case(report, f) for f in failing] or [f"  <testcase classname={quoteattr(report.subject)} name='valid'/>"]
    head = (
        f"<testsuite name={quoteattr(f'flinkplan {report.command}')} "
        f'tests="{len(cases)}" failures="{len(failing)}" errors="0">'
    )
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *cases, "</testsuite>"])


def _case(report: Report, finding: Finding) -> str:
    hint = f"hint: {finding.hint}" if finding.hint else ""
    details = [part for part in (str(finding.location or report.subject), finding.pointer, hint) if part]
    attributes = f"type={quoteattr(finding.severity.value)} message={quoteattr(_printable(sentence(finding)))}"
    name = quoteattr(f"{finding.rule} {finding.pointer}")
    return (
        f"  <testcase classname={quoteattr(report.file(finding))} name={name}>\n"
        f"    <failure {attributes}>{escape(_printable(chr(10).join(details)))}</failure>\n"
        "  </testcase>"
    )


def _printable(text: str) -> str:
    """The text without the control characters that XML cannot hold."""
    return "".join(c if c >= " " or c in "\t\n" else "�" for c in text)

"""The content of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ...plan.findings import Finding, Rule, Severity
from ...plan.record import Record, field


class Report(Record):
    """The findings of one command about one subject.

    ``command`` is the command that made them, ``subject`` the file or the pair of plans; ``rules`` explain the
    findings; ``sources`` are the texts of files, from which lines are quoted.
    """

    command: str
    subject: str
    findings: Sequence[Finding]
    rules: Mapping[str, Rule]
    sources: Mapping[str | None, str] = field(default_factory=dict)
    strict: bool = False
    """Whether warnings fail the check too."""

    def fails(self, finding: Finding) -> bool:
        """Whether a finding makes the command exit with 1."""
        return finding.severity is Severity.ERROR or (self.strict and finding.severity is Severity.WARNING)

    @property
    def summary(self) -> str:
        """``2 errors, 1 warning in plan.json``."""
        counts = Counter(f.severity for f in self.findings)
        parts = [f"{n} {s.value}{'s' if n > 1 else ''}" for s in Severity if (n := counts[s])]
        return f"{', '.join(parts) or 'no findings'} in {self.subject}"

    def file(self, finding: Finding) -> str:
        """The file of a finding."""
        return (finding.location and finding.location.file) or self.subject

    def line(self, finding: Finding) -> str | None:
        """The line of a finding, ``None`` where its file's text is not known."""
        place = finding.location
        if place is None or place.line is None or place.file not in self.sources:
            return None
        lines = self.sources[place.file].split("\n", place.line)
        return lines[place.line - 1].rstrip("\r") if place.line <= len(lines) else None


def title(finding: Finding) -> str:
    """``node 5 stream-exec-join_1``; empty for a finding without a node."""
    return "" if finding.node is None else f"node {finding.node} {finding.node_type or ''}".rstrip()


def sentence(finding: Finding) -> str:
    """The message, after the node that it is about."""
    node = title(finding)
    return f"{node}: {finding.text}" if node else finding.text

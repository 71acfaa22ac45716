"""What a change of a project means for the state and the results of each of its pipelines."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from ..plan.errors import FlinkplanError, Location
from ..plan.findings import Finding, Rule, Severity, rule_table
from ..plan.record import Record
from .diff import ChangeFinding, Diff
from .reports import Report
from .rules import RULES
from .verdicts import Effect, Verdict, fate, strongest, worst

PROJECT_RULES = rule_table(
    Rule(
        "pipeline-fails",
        Severity.ERROR,
        "a pipeline does not compile, so that the change is not judged",
        "The pipeline, or what it was before the change, is wrong or uses what flinkplan does not support.",
    ),
    Rule(
        "pipeline-added",
        Severity.NOTE,
        "a pipeline is new",
        "There is no state that it could continue from.",
    ),
    Rule(
        "pipeline-removed",
        Severity.NOTE,
        "a pipeline was removed",
        "Its state is not used any more. Stop its job, with a savepoint if the pipeline may come back.",
    ),
    Rule(
        "python-code-changed",
        Severity.NOTE,
        "the Python code of a pipeline's functions changed",
        "A plan names Python functions, so their code is not compared. The results may change.",
    ),
)
"""The rules about pipelines as a whole, beside those of :data:`.rules.RULES`."""


class Status(StrEnum):
    """What happened to a pipeline."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    FAILED = "failed"
    """The pipeline, or its old version, does not compile."""


class PipelineChange(Record):
    """What happened to a pipeline.

    ``path`` is where it is now, or was when it was removed; ``old_path`` where it was, if it has been renamed;
    ``diff`` the judgement on a changed one; ``errors`` are those of one that does not compile; ``python_changed`` says
    that Python code, which it uses, has changed.
    """

    path: str
    status: Status
    old_path: str | None = None
    diff: Diff | None = None
    errors: tuple[FlinkplanError, ...] = ()
    python_changed: bool = False

    @property
    def verdict(self) -> Verdict:
        """The verdict of the platforms that count; unknown for a pipeline that does not compile."""
        if self.status is Status.FAILED:
            return Verdict.UNKNOWN
        return self.diff.verdict if self.diff else Verdict.COSMETIC

    @property
    def results(self) -> Effect:
        """Whether results change."""
        results = self.diff.results if self.diff else Effect.NO
        return strongest((results, Effect.UNKNOWN)) if self.python_changed else results

    @property
    def findings(self) -> list[Finding]:
        """The findings about the pipeline as a whole, then those about its operators."""
        return [*self.own_findings, *(self.diff.findings if self.diff else ())]

    @property
    def own_findings(self) -> list[Finding]:
        """The findings about the pipeline as a whole."""
        location = Location(self.path)
        match self.status:
            case Status.FAILED:
                return [_failure(error, location) for error in self.errors]
            case Status.ADDED:
                return [Finding("pipeline-added", Severity.NOTE, "new: there is no state", location=location)]
            case Status.REMOVED:
                message = "removed: its state is not used any more"
                return [Finding("pipeline-removed", Severity.NOTE, message, location=location)]
        python = "its Python functions may give other results: their code changed"
        changed = Finding("python-code-changed", Severity.NOTE, python, location=location)
        return [changed] if self.python_changed else []


def _failure(error: FlinkplanError, location: Location) -> Finding:
    place = error.where if isinstance(error.where, Location) else location
    message = f"{error.where}: {error.message}" if isinstance(error.where, str) else error.message
    return Finding("pipeline-fails", Severity.ERROR, message, location=place, hint=error.hint)


class ProjectDiff(Report, kw_only=True):
    """The changes of all pipelines of a project since a revision."""

    base: str
    changes: Sequence[PipelineChange]
    fail_on: Verdict
    """The best verdict for which the check fails."""

    @classmethod
    def of(cls, base: str, changes: Sequence[PipelineChange], fail_on: Verdict) -> ProjectDiff:
        """The report on some changes since the revision ``base``."""
        sources = {name: text for change in changes if change.diff for name, text in change.diff.sources.items()}
        findings = [finding for change in changes for finding in change.findings]
        rules = {**RULES, **PROJECT_RULES}
        subject = f"pipelines since {base}"
        return cls("diff", subject, findings, rules, sources, base=base, changes=changes, fail_on=fail_on)

    def fails(self, finding: Finding) -> bool:
        """Whether a finding makes the command exit with another code than 0."""
        if isinstance(finding, ChangeFinding):
            return not finding.allowed and (finding.verdict is Verdict.UNKNOWN or finding.verdict >= self.fail_on)
        return finding.severity is Severity.ERROR

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all pipelines."""
        return worst(change.verdict for change in self.changes)

    @property
    def results(self) -> Effect:
        """Whether results of any pipeline change."""
        return strongest(change.results for change in self.changes)

    @property
    def summary(self) -> str:
        """``incompatible: 5 pipelines, 1 added, 1 changed, 3 unchanged``."""
        parts = [f"{n} {status.value}" for status in Status if (n := sum(c.status is status for c in self.changes))]
        number = len(self.changes)
        return f"{fate(self.verdict)}: {number} pipeline{'' if number == 1 else 's'}, {', '.join(parts)}"

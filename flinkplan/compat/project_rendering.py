"""The report on a project's change in each format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import quoteattr

from ..plan.findings import Finding, Severity
from ..plan.printable import aligned, continued, json_text, one_line
from ..plan.record import replace
from ..plan.secrets import masked_json, without_secrets
from .project_diff import PipelineChange, ProjectDiff, Status
from .rendering import Paint, as_json, as_text
from .reports import Report
from .reports import render as render_report
from .verdicts import Effect, fate

JSON_VERSION = 1
_RESULTS = {Effect.NO: "stay", Effect.YES: "change", Effect.UNKNOWN: "may change"}


def render(report: ProjectDiff, format: str, *, paint: Paint, detail: bool = False) -> str:
    """The report in a format; ``paint`` (``click.style``) and ``detail`` apply to text only."""
    match format:
        case "text":
            return _text(report, paint, detail)
        case "json":
            return json_text(masked_json("", _json(report)), indent=2) + "\n"
        case "junit":
            return _junit(report)
        case "markdown":
            return _markdown(report)
    return render_report(report, format)


def table(report: ProjectDiff) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The heads and rows of the table of pipelines, without those that have stayed as they were."""
    heads = ("pipeline", "", "Flink's state", "checkpoint on Spark", "results")
    shown = (change for change in report.changes if change.status is not Status.UNCHANGED or change.old_path)
    return heads, [(_title(change), str(change.status), *_fates(change)) for change in shown]


def _title(change: PipelineChange) -> str:
    return f"{change.old_path} → {change.path}" if change.old_path else change.path


def _fates(change: PipelineChange) -> tuple[str, str, str]:
    if change.status is Status.FAILED:
        return "unknown", "unknown", "unknown"
    if change.diff is None:
        results = "-" if change.status in (Status.ADDED, Status.REMOVED) else _RESULTS[change.results]
        return "-", "-", results
    return fate(change.diff.flink), fate(change.diff.spark), _RESULTS[change.results]


# ---------------------------------------------------------------- text


def _text(report: ProjectDiff, paint: Paint, detail: bool) -> str:
    blocks = list(_blocks(report, paint, detail))
    heads, rows = table(report)
    summary = paint(report.summary, bold=True)
    return "\n".join([*blocks, *([aligned(heads, rows), ""] if rows else []), summary]) + "\n"


def _blocks(report: ProjectDiff, paint: Paint, detail: bool) -> Iterator[str]:
    """What is to be said of each pipeline."""
    for change in report.changes:
        is_judged = change.status not in (Status.ADDED, Status.REMOVED)
        lines = [_line(finding) for finding in change.own_findings] if is_judged else []
        if change.diff is not None and change.diff.findings:
            lines.append(as_text(change.diff, paint, detail=detail))
        if lines:
            yield "\n".join(lines).rstrip("\n") + "\n"


def _line(finding: Finding) -> str:
    head = f"{finding.severity.value}[{finding.rule}]: {continued(without_secrets(finding.message))}"
    hint = [f"hint: {continued(without_secrets(finding.hint))}"] if finding.hint else []
    return "\n".join([head, f" --> {one_line(str(finding.location))}", *hint])


# ---------------------------------------------------------------- JSON


def _json(report: ProjectDiff) -> dict[str, Any]:
    """The report as ``schemas/project-diff-v1.schema.json`` describes it."""
    return {
        "version": JSON_VERSION,
        "base": report.base,
        "verdict": report.verdict.value,
        "results": report.results.value,
        "pipelines": [_change_json(report, change) for change in report.changes],
    }


def _change_json(report: ProjectDiff, change: PipelineChange) -> dict[str, Any]:
    return {
        "path": change.path,
        "oldPath": change.old_path,
        "status": change.status.value,
        "verdict": change.verdict.value,
        "results": change.results.value,
        "findings": [
            {
                "rule": f.rule,
                "severity": f.severity.value,
                "message": f.message,
                "hint": f.hint,
                "file": report.file(f),
                "line": f.location.line if f.location else None,
                "column": f.location.column if f.location else None,
            }
            for f in change.own_findings
        ],
        "diff": None if change.diff is None else as_json(change.diff),
    }


# ---------------------------------------------------------------- JUnit


def _junit(report: ProjectDiff) -> str:
    """A test suite for each pipeline."""
    suites = []
    for change in report.changes:
        reported = [f for f in change.findings if report.fails(f) or f.severity is not Severity.NOTE]
        suite = _Part(f"diff {_title(change)}", change.path, reported, report.rules, report.sources, whole=report)
        suites.append(re.sub(r"^<\?xml.*?\?>\n", "", render_report(suite, "junit")).rstrip("\n"))
    name = quoteattr(f"flinkplan diff since {report.base}")
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites name={name}>", *suites, "</testsuites>"]
    return "\n".join(lines) + "\n"


class _Part(Report, kw_only=True):
    """The findings about one pipeline."""

    whole: ProjectDiff

    def fails(self, finding: Finding) -> bool:
        return self.whole.fails(finding)


# ---------------------------------------------------------------- Markdown


def _markdown(report: ProjectDiff) -> str:
    """A table of the pipelines, and for each with findings a part that can be opened."""
    heads, rows = table(report)
    lines = [f"**flinkplan diff** since `{report.base}`: {report.summary}"]
    if rows:
        lines += ["", f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
        lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    for change in report.changes:
        if change.findings and change.status not in (Status.ADDED, Status.REMOVED):
            part = replace(report, findings=change.findings, changes=[change])
            body = render_report(part, "markdown").partition("\n\n")[2]
            title = _title(change).replace("<", "&lt;")
            lines += ["", f"<details><summary>{title}</summary>", "", body.rstrip("\n"), "", "</details>"]
    return "\n".join(lines) + "\n"

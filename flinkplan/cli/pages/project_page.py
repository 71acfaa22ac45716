"""The change of a project as a page: a table of its pipelines, and the page of each one that has changed."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from ...compat.project_diff import PipelineChange, ProjectDiff
from ...compat.project_rendering import table
from ...plan.files import is_program
from ...plan.printable import printable
from ...plan.secrets import without_secrets
from ...planner.spec import is_spec
from .diff_page import diff_page
from .page import framing_page, page
from .sql_places import places_in


def project_page(report: ProjectDiff) -> str:
    """The HTML of the page.  The pages of the pipelines are in it, each in a frame of its own."""
    heads, rows = table(report)
    lines = [_row("th", heads), *(_row("td", row) for row in rows)] if rows else []
    pipelines = "\n".join(part for change in report.changes for part in _parts(change))
    return framing_page(report.subject, report.summary, "".join(lines), pipelines)


def _row(cell: str, texts: tuple[str, ...]) -> str:
    return f"<tr>{''.join(f'<{cell}>{_text(text)}</{cell}>' for text in texts)}</tr>"


def _parts(change: PipelineChange) -> Iterator[str]:
    findings = [f"<p>{finding.severity.value}: {_text(finding.message)}</p>" for finding in change.own_findings]
    framed = [f'<iframe loading="lazy" srcdoc="{escape(_diff(change))}"></iframe>'] if change.diff else []
    if findings or framed:
        title = f"{change.path}: {change.verdict}" if change.diff else change.path
        yield f"<details><summary>{_text(title)}</summary>{''.join([*findings, *framed])}</details>"


def _diff(change: PipelineChange) -> str:
    diff = change.diff
    assert diff is not None
    source = diff.new.source
    if not diff.new.is_successor or is_program(source.name):
        return page(diff_page(diff))
    places = places_in(diff.new.plan, source.text, source.name)
    return page(diff_page(diff, source.text, places, is_spec(source.name)))


def _text(text: str) -> str:
    return escape(printable(without_secrets(text)))

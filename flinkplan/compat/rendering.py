"""The report of ``diff`` in each format.

Text and JSON show the edits and the verdicts; the formats for CI systems are those of every report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..plan.findings import Severity
from ..plan.nodes import ExecNode
from ..plan.printable import json_text, one_line
from ..plan.record import Record, field
from ..plan.secrets import masked_json, without_secrets
from .diff import ChangeFinding, Diff
from .edits import Edit, FieldChange, Insert, Keep, Move, Remove, Replace, Update
from .normal import content
from .reports import render as render_report
from .rules.model import short
from .verdicts import Effect, Verdict

JSON_VERSION = 1

Paint = Callable[..., str]
"""Gives a text a colour or style, as ``click.style`` does."""

_MARKS = {Insert: "+", Remove: "-", Update: "~", Replace: "~", Move: "↔", Keep: " "}
_RESULTS = {Effect.NO: "stay", Effect.YES: "change", Effect.UNKNOWN: "may change"}
_COLOURS = {
    Verdict.COSMETIC: None,
    Verdict.COMPATIBLE: "green",
    Verdict.PARTIAL: "yellow",
    Verdict.UNKNOWN: "magenta",
    Verdict.INCOMPATIBLE: "red",
    Verdict.CORRUPTING: "bright_red",
}
_DIM = {"dim": True}


def render(diff: Diff, format: str, *, paint: Paint | None = None, detail: bool = False) -> str:
    """The report in a format; ``paint`` (``click.style``) and ``detail`` apply to text only."""
    if format == "text":
        return as_text(diff, paint or _plain, detail=detail)
    if format == "json":
        return json_text(masked_json("", as_json(diff)), indent=2) + "\n"
    return render_report(diff, format)


# ---------------------------------------------------------------- JSON


def as_json(diff: Diff) -> dict[str, Any]:
    """The report as JSON, as ``schemas/diff-v1.schema.json`` describes it."""
    old, new = diff.comparison.old.plan, diff.comparison.new.plan
    return {
        "version": JSON_VERSION,
        "old": {"name": diff.old.source.name, "flinkVersion": old.flink_version, "nodes": len(old.nodes)},
        "new": {"name": diff.new.source.name, "flinkVersion": new.flink_version, "nodes": len(new.nodes)},
        "for": list(diff.platforms.engines),
        "runtime": "vvr" if diff.platforms.one_by_one else "apache",
        "verdict": diff.verdict.value,
        "flink": diff.flink.value,
        "spark": diff.spark.value,
        "results": diff.results.value,
        "edits": [_edit_json(diff, e) for e in diff.comparison.edits if not _is_silent(e)],
        "findings": [_finding_json(diff, f) for f in diff.findings if isinstance(f, ChangeFinding)],
    }


def _is_silent(edit: Edit) -> bool:
    """Whether nothing has changed."""
    return isinstance(edit, Keep) and edit.old == edit.new


def _edit_json(diff: Diff, edit: Edit) -> dict[str, Any]:
    old, new = _ends(edit)
    return {
        "edit": type(edit).__name__.lower(),
        "name": _name(diff, edit),
        "old": _node_json(old),
        "new": _node_json(new),
        "changes": [_change_json(c) for c in edit.changes] if isinstance(edit, Update) else [],
    }


def _name(diff: Diff, edit: Edit) -> str:
    old, new = _ends(edit)
    if new is not None:
        return diff.new.names[new.id]
    return diff.old.names[old.id] if old is not None else ""


def _ends(edit: Edit) -> tuple[ExecNode | None, ExecNode | None]:
    return (
        None if isinstance(edit, Insert) else edit.old,
        None if isinstance(edit, Remove) else edit.new,
    )


def _node_json(node: ExecNode | None) -> dict[str, Any] | None:
    return None if node is None else {"id": node.id, "type": node.type, "description": node.description}


def _change_json(change: FieldChange) -> dict[str, Any]:
    old, new = (masked_json(change.pointer, value) for value in (change.old, change.new))
    return {"pointer": change.pointer, "old": old, "new": new}


def _finding_json(diff: Diff, finding: ChangeFinding) -> dict[str, Any]:
    rule, place = finding.change_rule, finding.location
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "message": finding.message,
        "hint": finding.hint,
        "migrate": None if finding.migration is None else finding.migration.recipe,
        "verdict": finding.verdict.value,
        "flink": finding.flink.value,
        "spark": rule.spark.value,
        "results": finding.results.value,
        "allowed": finding.allowed,
        "name": finding.name,
        "oldNode": finding.old_node,
        "node": finding.node,
        "nodeType": finding.node_type,
        "pointer": finding.pointer,
        "file": diff.file(finding),
        "line": place.line if place else None,
        "column": place.column if place else None,
    }


# ---------------------------------------------------------------- text


class _Line(Record):
    """A line of the tree with its children."""

    text: str
    style: Mapping[str, Any] = field(default_factory=dict)
    below: tuple[_Line, ...] = ()


def as_text(diff: Diff, paint: Paint, *, detail: bool) -> str:
    """A tree of the nodes that changed, and a line with the verdict."""

    def shown(text: str, **style: Any) -> str:
        return paint(one_line(without_secrets(text)), **style)

    lines = list(_drawn(_branches(diff, detail), "", shown))
    if lines:
        lines.insert(0, shown(diff.subject, bold=True))
    lines.append(shown(diff.summary, bold=True, fg=_COLOURS[diff.verdict]))
    return "\n".join(lines) + "\n"


def _plain(text: str, **style: Any) -> str:
    return text


def _drawn(lines: Iterable[_Line], indent: str, paint: Paint) -> Iterator[str]:
    """The lines of the tree."""
    siblings = list(lines)
    for number, line in enumerate(siblings, 1):
        is_last = number == len(siblings)
        yield paint(indent + ("└── " if is_last else "├── "), dim=True) + paint(line.text, **line.style)
        yield from _drawn(line.below, indent + ("    " if is_last else "│   "), paint)


def _branches(diff: Diff, detail: bool) -> Iterator[_Line]:
    """The findings about the plans as a whole, then those of each node, then the cosmetic ones."""
    findings = [f for f in diff.findings if isinstance(f, ChangeFinding)]
    cosmetic = [f for f in findings if _is_cosmetic(f)]
    by_node: dict[tuple[int | None, int | None], list[ChangeFinding]] = {}
    for finding in findings:
        if not _is_cosmetic(finding):
            by_node.setdefault(_key(finding), []).append(finding)
    for edit in diff.comparison.edits:
        old, new = _ends(edit)
        node_findings = by_node.pop((old.id if old else None, new.id if new else None), [])
        if node_findings:
            children = (_finding_line(diff, finding) for finding in node_findings)
            yield _Line(_title(diff, edit), {"bold": True}, (*children, *(_details(edit) if detail else ())))
    for other_findings in by_node.values():
        yield from (_finding_line(diff, finding) for finding in other_findings)
    if cosmetic:
        yield _Line("cosmetic", _DIM, tuple(_Line(_sentence(f), _DIM) for f in cosmetic))


def _is_cosmetic(finding: ChangeFinding) -> bool:
    return finding.verdict is Verdict.COSMETIC and finding.severity is Severity.NOTE


def _key(finding: ChangeFinding) -> tuple[int | None, int | None]:
    return finding.old_node, finding.new_node


def _title(diff: Diff, edit: Edit) -> str:
    old, new = _ends(edit)
    ids = " → ".join(dict.fromkeys(str(n.id) for n in (old, new) if n))
    node = new or old
    assert node is not None
    return f"{_MARKS[type(edit)]} {_name(diff, edit)} (node {ids}): {node.description or node.type}"


def _sentence(finding: ChangeFinding) -> str:
    subject = f"{finding.name}: " if finding.name else ""
    return f"{subject}{finding.message} ({finding.rule})"


def _finding_line(diff: Diff, finding: ChangeFinding) -> _Line:
    rule = finding.change_rule
    if finding.allowed:
        return _Line(f"allowed: {finding.message} ({finding.rule})", _DIM)
    below = [_Line(f"{diff.platforms.describe(finding.flink, rule.spark)}, results {_RESULTS[finding.results]}")]
    if finding.hint and finding.severity is not Severity.NOTE:
        below.append(_Line(f"hint: {finding.hint}", {"fg": "cyan"}))
    text = f"{finding.text} ({finding.rule})"
    style = {"fg": _COLOURS[finding.verdict], "bold": finding.verdict is Verdict.CORRUPTING}
    return _Line(text, style, tuple(below))


def _details(edit: Edit) -> Iterator[_Line]:
    """A line for each value that differs, at any depth."""
    if not isinstance(edit, Update):
        return
    from deepdiff import DeepDiff

    changes_by_kind = DeepDiff(content(edit.old), content(edit.new), verbose_level=2, view="tree")
    for changes in changes_by_kind.values():
        for change in changes:
            pointer = "".join(f"/{step}" for step in change.path(output_format="list"))
            old, new = (short(masked_json(pointer, _json(value))) for value in (change.t1, change.t2))
            yield _Line(f"{pointer}: {old} → {new}", _DIM)


def _json(value: Any) -> Any:
    """A value of a deep difference; ``None`` where it is missing on one side."""
    return value if isinstance(value, str | int | float | bool | list | dict) else None

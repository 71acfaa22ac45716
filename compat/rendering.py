"""The report of ``diff`` in each format.

Text and JSON show the edits and the verdicts; the formats for systems that run checks are those of every report.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Any

from ..plan.findings import Severity
from ..plan.nodes import ExecNode
from .diff import ChangeFinding, Diff
from .edits import Edit, FieldChange, Insert, Keep, Move, Remove, Replace, Update
from .normal import content
from .reports import render as render_report
from .rules.model import short
from .verdicts import Effect, Verdict

JSON_VERSION = 1

_MARKS = {Insert: "+", Remove: "-", Update: "~", Replace: "~", Move: "↔", Keep: " "}
_RESULTS = {Effect.NO: "stay", Effect.YES: "change", Effect.UNKNOWN: "may change"}
_STYLES = {
    Verdict.COSMETIC: "dim",
    Verdict.COMPATIBLE: "green",
    Verdict.PARTIAL: "yellow",
    Verdict.UNKNOWN: "magenta",
    Verdict.INCOMPATIBLE: "red",
}


def render(diff: Diff, format: str, *, colour: bool = False, width: int = 120, detail: bool = False) -> str:
    """The report in one of the formats of reports; ``colour``, ``width`` and ``detail`` are for text."""
    if format == "text":
        return as_text(diff, colour=colour, width=width, detail=detail)
    if format == "json":
        return json.dumps(as_json(diff), indent=2, ensure_ascii=False) + "\n"
    return render_report(diff, format)


# ---------------------------------------------------------------- JSON


def as_json(diff: Diff) -> dict[str, Any]:
    """The report as JSON, as ``schemas/diff-v1.schema.json`` describes it."""
    old, new = diff.comparison.old.plan, diff.comparison.new.plan
    return {
        "version": JSON_VERSION,
        "old": {"name": diff.old.source.name, "flinkVersion": old.flink_version, "nodes": len(old.nodes)},
        "new": {"name": diff.new.source.name, "flinkVersion": new.flink_version, "nodes": len(new.nodes)},
        "verdict": diff.verdict.value,
        "flink": diff.flink.value,
        "spark": diff.spark.value,
        "results": diff.results.value,
        "edits": [_edit_json(diff, e) for e in diff.comparison.edits if not _is_silent(e)],
        "findings": [_finding_json(diff, f) for f in diff.findings if isinstance(f, ChangeFinding)],
    }


def _is_silent(edit: Edit) -> bool:
    """Whether nothing at all has changed."""
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
    return {"pointer": change.pointer, "old": change.old, "new": change.new}


def _finding_json(diff: Diff, finding: ChangeFinding) -> dict[str, Any]:
    rule, place = finding.change_rule, finding.location
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "message": finding.message,
        "hint": finding.hint,
        "flink": rule.flink.value,
        "spark": rule.spark.value,
        "results": rule.results.value,
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


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the tree with what stands below it."""

    text: str
    style: str = ""
    below: tuple[_Line, ...] = ()


def as_text(diff: Diff, *, colour: bool, width: int, detail: bool) -> str:
    """A tree of the nodes that changed, and a line with the verdict."""
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text(diff.subject, style="bold"), guide_style="dim")

    def grow(branch: Tree, lines: Iterable[_Line]) -> None:
        for line in lines:
            grow(branch.add(Text(line.text, style=line.style)), line.below)

    grow(tree, _branches(diff, detail))
    out = StringIO()
    console = Console(file=out, width=width, force_terminal=colour, color_system="standard" if colour else None)
    if tree.children:
        console.print(tree)
    console.print(Text(diff.summary, style=f"bold {_STYLES[diff.verdict]}"))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _branches(diff: Diff, detail: bool) -> Iterator[_Line]:
    """The plans as a whole, then node by node, then what is cosmetic."""
    findings = [f for f in diff.findings if isinstance(f, ChangeFinding)]
    cosmetic = [f for f in findings if _is_cosmetic(f)]
    by_node: dict[tuple[int | None, int | None], list[ChangeFinding]] = {}
    for finding in findings:
        if not _is_cosmetic(finding):
            by_node.setdefault(_key(finding), []).append(finding)
    for edit in diff.comparison.edits:
        old, new = _ends(edit)
        its = by_node.pop((old.id if old else None, new.id if new else None), [])
        if its:
            yield _Line(_title(diff, edit), "bold", (*map(_told, its), *(_details(edit) if detail else ())))
    for left in by_node.values():
        yield from map(_told, left)
    if cosmetic:
        yield _Line("cosmetic", "dim", tuple(_Line(_sentence(f), "dim") for f in cosmetic))


def _is_cosmetic(finding: ChangeFinding) -> bool:
    return finding.change_rule.verdict is Verdict.COSMETIC and finding.severity is Severity.NOTE


def _key(finding: ChangeFinding) -> tuple[int | None, int | None]:
    return finding.old_node, finding.new_node


def _title(diff: Diff, edit: Edit) -> str:
    old, new = _ends(edit)
    ids = " → ".join(dict.fromkeys(str(n.id) for n in (old, new) if n))
    node = new or old
    assert node is not None
    return f"{_MARKS[type(edit)]} {_name(diff, edit)} (node {ids}): {node.description or node.type}"


def _sentence(finding: ChangeFinding) -> str:
    about = f"{finding.name}: " if finding.name else ""
    return f"{about}{finding.message} ({finding.rule})"


def _told(finding: ChangeFinding) -> _Line:
    rule = finding.change_rule
    if finding.allowed:
        return _Line(f"allowed: {finding.message} ({finding.rule})", "dim")
    below = [_Line(f"Flink's state {rule.flink}, checkpoint on Spark {rule.spark}, results {_RESULTS[rule.results]}")]
    if finding.hint and finding.severity is not Severity.NOTE:
        below.append(_Line(f"hint: {finding.hint}", "cyan"))
    text = f"{rule.verdict}: {finding.message} ({finding.rule})"
    return _Line(text, _STYLES[rule.verdict], tuple(below))


def _details(edit: Edit) -> Iterator[_Line]:
    """Every value that differs, however deep."""
    if not isinstance(edit, Update):
        return
    from deepdiff import DeepDiff

    found = DeepDiff(content(edit.old), content(edit.new), verbose_level=2, view="tree")
    for changes in found.values():
        for change in changes:
            at = "".join(f"/{step}" for step in change.path(output_format="list"))
            yield _Line(f"{at}: {short(_json(change.t1))} → {short(_json(change.t2))}", "dim")


def _json(value: Any) -> Any:
    """A value of a deep difference; what is missing on one side is ``None``."""
    return value if isinstance(value, str | int | float | bool | list | dict) else None

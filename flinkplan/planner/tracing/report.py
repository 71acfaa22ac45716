"""A trace as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from .tracer import Step, Trace


def trace_lines(trace: Trace) -> Iterator[str]:
    """For each INSERT the bound tree, then for each phase that changed it a diff of the trees before and after.

    A diff has one line around each change; ``…`` stands for lines left out.
    """
    for insert in trace.inserts:
        yield from (f"INSERT INTO {insert.table}", "", "bound", *_marked(" ", insert.bound), "")
        for step in insert.steps:
            yield from _step_lines(step)
    if trace.together:
        yield from ("all INSERTs together", "")
    for step in trace.together:
        yield from _step_lines(step)


def _step_lines(step: Step) -> Iterator[str]:
    rules = "" if step.rules == (step.phase,) else f": {', '.join(step.rules)}"
    yield f"{step.stage} · {step.phase}{rules}"
    yield from diff_lines(step.before, step.after) or ["  (nothing that the tree shows, such as a type)"]
    yield ""


def diff_lines(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """The lines of a tree that went, behind ``-``, and those that came, behind ``+``; ``…`` stands for the others.

    Around each change stands one line that stays, at its place in the tree after it.  A line that only moves deeper or
    higher stays.
    """
    matcher = SequenceMatcher(None, list(map(str.strip, before)), list(map(str.strip, after)), autojunk=False)
    lines: list[str] = []
    for group in matcher.get_grouped_opcodes(1):
        lines += ["    …"] if lines else []
        for change, first, last, new_first, new_last in group:
            if change == "equal":
                lines += _marked(" ", after[new_first:new_last])
            else:
                lines += (*_marked("-", before[first:last]), *_marked("+", after[new_first:new_last]))
    return lines


def _marked(mark: str, lines: Iterable[str]) -> list[str]:
    return [f"  {mark} {line}" for line in lines]


def trace_json(trace: Trace) -> dict[str, Any]:
    """The same with whole trees before and after each phase, as lists of lines."""
    return {
        "inserts": [
            {"table": insert.table, "bound": list(insert.bound), "steps": list(map(_step_json, insert.steps))}
            for insert in trace.inserts
        ],
        "together": list(map(_step_json, trace.together)),
    }


def _step_json(step: Step) -> dict[str, Any]:
    return {
        "stage": step.stage,
        "phase": step.phase,
        "rules": list(step.rules),
        "before": list(step.before),
        "after": list(step.after),
    }

"""Node ids over the versions of a plan: Flink finds state by them, so an id must never be given to a second operator.

flinkplan keeps its own notes inside a node under the key :data:`OWN`, which Flink ignores; at the top level of the
document Flink would refuse it.
"""

from __future__ import annotations

from typing import Any

from .document import Plan
from .errors import PlanError
from .nodes import ExecNode
from .record import Json, replace

OWN = "flinkplan"
"""The key in a node for the notes of flinkplan."""

_HIGHEST = "highestId"
_LARGEST = 2**31 - 1


def highest_id(plan: Plan) -> int:
    """The highest id that a node of the plan, or of an earlier version of it, has had.

    Raises :class:`PlanError` if the plan's note of it is not an id.
    """
    return max((max(node.id, _noted(node)) for node in plan.nodes), default=0)


def fresh_ids(plan: Plan, count: int) -> range:
    """``count`` ids that no node of the plan, or of an earlier version of it, has had.

    Raises :class:`PlanError` if Flink's ids are used up.
    """
    first = highest_id(plan) + 1
    if first + count - 1 > _LARGEST:
        raise PlanError(f"there are no ids beyond {_LARGEST}", hint="start anew, without the plan before")
    return range(first, first + count)


def with_highest_id(plan: Plan, highest: int) -> Plan:
    """The plan with a note of the highest id ever used, unless one of its nodes has that id."""
    nodes = [replace(node, unknown=_without(node)) for node in plan.nodes]
    if nodes and highest > max(node.id for node in nodes):
        last = nodes[-1]
        nodes[-1] = replace(last, unknown=Json({**last.unknown, OWN: {**_notes(last), _HIGHEST: highest}}))
    return replace(plan, nodes=tuple(nodes))


def with_notes_of(node: ExecNode, old: ExecNode) -> ExecNode:
    """The node with the notes in ``old`` added to its own."""
    notes = {**_notes(old), **_notes(node)}
    return replace(node, unknown=Json({**node.unknown, OWN: notes})) if notes else node


def _notes(node: ExecNode) -> dict[str, Any]:
    notes = node.unknown.get(OWN)
    return notes if isinstance(notes, dict) else {}


def _without(node: ExecNode) -> Json:
    """The undeclared fields of a node, without the note of the highest id."""
    if OWN not in node.unknown:
        return node.unknown
    notes = {key: value for key, value in _notes(node).items() if key != _HIGHEST}
    return Json({key: notes if key == OWN else value for key, value in node.unknown.items() if key != OWN or notes})


def _noted(node: ExecNode) -> int:
    highest = _notes(node).get(_HIGHEST, 0)
    if type(highest) is not int or not 0 <= highest <= _LARGEST:
        raise PlanError(f"{_HIGHEST} is {highest!r:.60}, which is no id", where=f"node {node.id}", hint="remove it")
    return highest

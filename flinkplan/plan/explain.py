"""A plan as a tree of its operators, from the sinks down, with keys, states and the kinds of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from .changelog import row_kinds
from .document import Plan
from .errors import UnsupportedError
from .nodes import ExecNode, Sink
from .record import Record
from .row_kinds import Kinds, kinds_text
from .ttl import State, states

T = TypeVar("T")

DEEPEST = 500
"""How many operators may stand one below the other in a tree."""


class Operator(Record):
    """An operator of the tree.

    ``keys`` are the columns whose values keep rows together; ``changelog`` the kinds of rows it emits, of a sink
    those it takes, ``UNKNOWN`` where nobody has told.
    """

    node: ExecNode
    keys: tuple[str, ...]
    states: tuple[State, ...]
    changelog: str


class Line(Record):
    """A line of the tree: its branches, then an operator's name and what is known of it, or its description."""

    branches: str
    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.branches}{self.name}{'  ' if self.name else ''}{self.text}"


class Label(Record, Generic[T]):
    """What a tree says of one of its items: name and text, lines below that, and which items stand under it."""

    name: str
    text: str
    details: Sequence[str]
    inputs: Sequence[T]


def explain(plan: Plan) -> dict[int, Operator]:
    """The operators by their nodes' ids, in the order of the plan."""
    kinds = row_kinds(plan)
    by_node: dict[int, list[State]] = {}
    for state in states(plan):
        by_node.setdefault(state.node.id, []).append(state)
    return {
        node.id: Operator(
            node,
            tuple(keys(plan, node)),
            tuple(by_node.get(node.id, ())),
            _kinds_text(frozenset(node.input_changelog_mode) if isinstance(node, Sink) else kinds[node.id]),
        )
        for node in plan.nodes
    }


def explain_lines(plan: Plan) -> Iterator[Line]:
    """The tree in lines; what several operators read is shown where it stands first.

    Raises :class:`UnsupportedError` for a plan that is too deep for a tree.
    """
    operators = explain(plan)
    shown: set[int] = set()

    def known(node: ExecNode) -> Label[ExecNode]:
        sources = plan.inputs(node)
        reused = node.id in shown and bool(sources)
        shown.add(node.id)
        return _label(operators[node.id], () if reused else sources, reused)

    for sink in plan.sinks:
        yield from draw(sink, known)


def explain_text(plan: Plan) -> str:
    """The tree as text."""
    return "".join(f"{line}\n" for line in explain_lines(plan))


def explain_json(plan: Plan) -> list[dict[str, Any]]:
    """One object a node, in the order of the plan."""
    return [_as_json(plan, operator) for operator in explain(plan).values()]


def _as_json(plan: Plan, operator: Operator) -> dict[str, Any]:
    node = operator.node
    return {
        "id": node.id,
        "type": node.type,
        "description": node.description,
        "inputs": [source.id for source in plan.inputs(node)],
        "changelog": operator.changelog.split(","),
        "keys": list(operator.keys),
        "states": [{"index": s.index, "name": s.name, "ttl": s.ttl} for s in operator.states],
        "columns": [{"name": f.name, "type": str(f.type)} for f in node.fields],
    }


def _label(operator: Operator, sources: tuple[ExecNode, ...], reused: bool) -> Label[ExecNode]:
    known = [f"[{operator.changelog}]"]
    if operator.keys:
        known.append(f"keys {', '.join(operator.keys)}")
    known += [f"{s.name} {'default' if s.ttl is None else s.ttl}" for s in operator.states]
    if reused:
        known.append("see above")
    name, _, arguments = (operator.node.description or operator.node.type).partition("(")
    details = (arguments.removesuffix(")"),) if arguments and not reused else ()
    return Label(f"{operator.node.id} {name}", " · ".join(known), details, sources)


def draw(root: T, label: Callable[[T], Label[T]]) -> Iterator[Line]:
    """The tree of ``root`` and of what its label names as inputs, depth first.

    Raises :class:`UnsupportedError` beyond :data:`DEEPEST`, where nobody could read it.
    """
    pending = [(root, "", "", 0)]
    while pending:
        item, branch, below, depth = pending.pop()
        if depth > DEEPEST:
            raise UnsupportedError(
                f"the plan is deeper than {DEEPEST} operators, which is too deep for a tree",
                hint="--format json lists its operators",
            )
        found = label(item)
        yield Line(branch, found.name, found.text)
        for detail in found.details:
            yield Line(below + ("│  " if found.inputs else "   "), "", detail)
        last = len(found.inputs) - 1
        for number in range(last, -1, -1):
            turn, side = ("└─ ", "   ") if number == last else ("├─ ", "│  ")
            pending.append((found.inputs[number], below + turn, below + side, depth + 1))


def _kinds_text(kinds: Kinds | None) -> str:
    return "UNKNOWN" if kinds is None else kinds_text(kinds) or "NONE"


def keys(plan: Plan, node: ExecNode) -> Iterator[str]:
    """The columns whose values keep a node's rows together; of two inputs, which one equals which."""
    named = [columns_of(*each) for each in zip(plan.inputs(node), node.key_columns(), strict=False)]
    return (" = ".join(columns) for columns in zip(*named, strict=False))


def columns_of(node: ExecNode, columns: Sequence[int]) -> Iterator[str]:
    """The names of some columns of a node."""
    fields = node.fields
    for column in columns:
        yield fields[column].name if column < len(fields) else str(column)

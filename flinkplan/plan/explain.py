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
"""How deep a tree of operators may be."""


class Operator(Record):
    """An operator of the tree.

    ``keys`` are the columns by which the operator groups or joins rows; ``changelog`` the kinds of rows that it emits,
    or for a sink those that it accepts, and ``UNKNOWN`` if they are not known.
    """

    node: ExecNode
    keys: tuple[str, ...]
    states: tuple[State, ...]
    changelog: str


class Line(Record):
    """A line of the tree: its branches, then an operator's name and properties, or its description."""

    branches: str
    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.branches}{self.name}{'  ' if self.name else ''}{self.text}"


class Label(Record, Generic[T]):
    """How an item appears in a tree: name and text, lines below that, and its inputs, which are the items below it."""

    name: str
    text: str
    details: Sequence[str]
    inputs: Sequence[T]


def explain(plan: Plan) -> dict[int, Operator]:
    """The operators by node id, in the order of the plan."""
    kinds = row_kinds(plan)
    states_by_node: dict[int, list[State]] = {}
    for state in states(plan):
        states_by_node.setdefault(state.node.id, []).append(state)
    return {
        node.id: Operator(
            node,
            tuple(keys(plan, node)),
            tuple(states_by_node.get(node.id, ())),
            _kinds_text(node.input_kinds if isinstance(node, Sink) else kinds[node.id]),
        )
        for node in plan.nodes
    }


def explain_lines(plan: Plan) -> Iterator[Line]:
    """The lines of the tree; an operator with several readers is expanded only where it appears first.

    Raises :class:`UnsupportedError` for a plan that is too deep for a tree.
    """
    operators = explain(plan)
    shown: set[int] = set()

    def label(node: ExecNode) -> Label[ExecNode]:
        sources = plan.inputs(node)
        reused = node.id in shown and bool(sources)
        shown.add(node.id)
        return _label(operators[node.id], () if reused else sources, reused)

    for sink in plan.sinks:
        yield from draw(sink, label)


def explain_text(plan: Plan) -> str:
    """The tree as text."""
    return "".join(f"{line}\n" for line in explain_lines(plan))


def explain_json(plan: Plan) -> list[dict[str, Any]]:
    """One object for each node, in the order of the plan."""
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
    properties = [f"[{operator.changelog}]"]
    if operator.keys:
        properties.append(f"keys {', '.join(operator.keys)}")
    properties += [f"{s.name} {'default' if s.ttl is None else s.ttl}" for s in operator.states]
    if reused:
        properties.append("see above")
    name, _, arguments = (operator.node.description or operator.node.type).partition("(")
    details = (arguments.removesuffix(")"),) if arguments and not reused else ()
    return Label(f"{operator.node.id} {name}", " · ".join(properties), details, sources)


def draw(root: T, label: Callable[[T], Label[T]]) -> Iterator[Line]:
    """The tree of ``root`` and its inputs, as ``label`` names them, depth first.

    Raises :class:`UnsupportedError` for a tree deeper than :data:`DEEPEST`, which nobody could read.
    """
    pending = [(root, "", "", 0)]
    while pending:
        item, branch, below, depth = pending.pop()
        if depth > DEEPEST:
            raise UnsupportedError(
                f"the plan is deeper than {DEEPEST} operators, which is too deep for a tree",
                hint="--format json lists its operators",
            )
        labelled = label(item)
        yield Line(branch, labelled.name, labelled.text)
        for detail in labelled.details:
            yield Line(below + ("│  " if labelled.inputs else "   "), "", detail)
        last = len(labelled.inputs) - 1
        for number in range(last, -1, -1):
            turn, side = ("└─ ", "   ") if number == last else ("├─ ", "│  ")
            pending.append((labelled.inputs[number], below + turn, below + side, depth + 1))


def _kinds_text(kinds: Kinds | None) -> str:
    return "UNKNOWN" if kinds is None else kinds_text(kinds) or "NONE"


def keys(plan: Plan, node: ExecNode) -> Iterator[str]:
    """The key columns of a node; for several inputs the columns that are equal (``id = order_id``)."""
    by_input = [columns_of(*pair) for pair in zip(plan.inputs(node), node.key_columns(), strict=False)]
    return (" = ".join(columns) for columns in zip(*by_input, strict=False))


def columns_of(node: ExecNode, columns: Sequence[int]) -> Iterator[str]:
    """The names of some columns of a node."""
    fields = node.fields
    for column in columns:
        yield fields[column].name if column < len(fields) else str(column)

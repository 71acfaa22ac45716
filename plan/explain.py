"""A plan as a tree of its operators, from the sinks down, with keys, states and the kinds of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from .changelog import row_kinds, sink_kinds
from .document import Plan
from .nodes import (
    ChangelogNormalize,
    Deduplicate,
    Exchange,
    ExecNode,
    GlobalGroupAggregate,
    GlobalWindowAggregate,
    GroupAggregate,
    GroupWindowAggregate,
    IntervalJoin,
    Join,
    MultiJoin,
    OverAggregate,
    Rank,
    Sink,
    TemporalJoin,
    WindowAggregate,
    WindowDeduplicate,
    WindowJoin,
    WindowRank,
)
from .specs import JoinSpec
from .ttl import State, states

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of the tree.

    ``keys`` are the columns whose values keep rows together; ``changelog`` the kinds of rows it emits, of a sink
    those it takes; ``reused`` says that its inputs are shown where it stands first.
    """

    node: ExecNode
    keys: tuple[str, ...]
    states: tuple[State, ...]
    changelog: str
    inputs: tuple[Operator, ...]
    reused: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the tree: its branches, then an operator's name and what is known of it, or its description."""

    branches: str
    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.branches}{self.name}{'  ' if self.name else ''}{self.text}"


def explain(plan: Plan) -> tuple[Operator, ...]:
    """The operators, one tree a sink."""
    kinds = row_kinds(plan)
    by_node: dict[int, list[State]] = {}
    for state in states(plan):
        by_node.setdefault(state.node.id, []).append(state)
    shown: set[int] = set()

    def operator(node: ExecNode) -> Operator:
        reused = node.id in shown
        shown.add(node.id)
        mode = sink_kinds(node) if isinstance(node, Sink) else kinds[node.id]
        inputs = () if reused else tuple(operator(source) for source in plan.inputs(node))
        return Operator(
            node,
            tuple(keys(plan, node)),
            tuple(by_node.get(node.id, ())),
            str(mode),
            inputs,
            reused and bool(plan.inputs(node)),
        )

    return tuple(operator(sink) for sink in plan.sinks)


def explain_lines(plan: Plan) -> Iterator[Line]:
    """The tree in lines."""
    for root in explain(plan):
        yield from draw(root, lambda operator: operator.inputs, _known)


def explain_text(plan: Plan) -> str:
    """The tree as text."""
    return "".join(f"{line}\n" for line in explain_lines(plan))


def explain_json(plan: Plan) -> list[dict[str, Any]]:
    """One object a node, in the order of the plan."""
    found: dict[int, Operator] = {}

    def collect(operator: Operator) -> None:
        found.setdefault(operator.node.id, operator)
        for below in operator.inputs:
            collect(below)

    for root in explain(plan):
        collect(root)
    return [_as_json(plan, found[node.id]) for node in plan.nodes]


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


def _known(operator: Operator) -> tuple[str, str, list[str]]:
    known = [f"[{operator.changelog}]"]
    if operator.keys:
        known.append(f"keys {', '.join(operator.keys)}")
    known += [f"{s.name} {'default' if s.ttl is None else s.ttl}" for s in operator.states]
    if operator.reused:
        known.append("see above")
    name, _, arguments = (operator.node.description or operator.node.type).partition("(")
    details = [arguments.removesuffix(")")] if arguments and not operator.reused else []
    return f"{operator.node.id} {name}", " · ".join(known), details


def draw(
    root: _T,
    inputs: Callable[[_T], Sequence[_T]],
    known: Callable[[_T], tuple[str, str, Sequence[str]]],
    branch: str = "",
    below: str = "",
) -> Iterator[Line]:
    """The tree of ``root`` and its ``inputs``; ``known`` gives each one's name, text and the lines below that."""
    name, text, details = known(root)
    yield Line(branch, name, text)
    sources = inputs(root)
    for detail in details:
        yield Line(below + ("│  " if sources else "   "), "", detail)
    for number, source in enumerate(sources, 1):
        last = number == len(sources)
        yield from draw(source, inputs, known, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  "))


def keys(plan: Plan, node: ExecNode) -> Iterator[str]:
    """The columns whose values keep a node's rows together."""
    inputs = plan.inputs(node)
    match node:
        case Join(join_spec=spec) | TemporalJoin(join_spec=spec) | WindowJoin(join_spec=spec):
            yield from _join_keys(spec, inputs)
        case IntervalJoin(interval_join_spec=interval):
            yield from _join_keys(interval.join_spec, inputs)
        case GroupAggregate(grouping=columns) | GlobalGroupAggregate(grouping=columns):
            yield from columns_of(inputs[0], columns)
        case WindowAggregate(grouping=columns) | GlobalWindowAggregate(grouping=columns):
            yield from columns_of(inputs[0], columns)
        case GroupWindowAggregate(grouping=columns) | Deduplicate(unique_keys=columns):
            yield from columns_of(inputs[0], columns)
        case OverAggregate(over_spec=over):
            yield from columns_of(inputs[0], over.partition.fields)
        case ChangelogNormalize(unique_keys=columns) | WindowDeduplicate(partition_keys=columns):
            yield from columns_of(inputs[0], columns)
        case Rank(partition=partition) | WindowRank(partition_spec=partition):
            yield from columns_of(inputs[0], partition.fields)
        case MultiJoin(input_properties=properties):
            distribution = properties[0].required_distribution if properties else None
            yield from columns_of(inputs[0], (distribution and distribution.keys) or ())
        case Exchange(input_properties=properties):
            distribution = properties[0].required_distribution if properties else None
            yield from columns_of(inputs[0], (distribution and distribution.keys) or ())
        case Sink(input_upsert_key=columns):
            yield from columns_of(inputs[0], columns or ())


def _join_keys(spec: JoinSpec, inputs: tuple[ExecNode, ...]) -> Iterator[str]:
    left, right = inputs
    for a, b in zip(columns_of(left, spec.left_keys), columns_of(right, spec.right_keys), strict=False):
        yield f"{a} = {b}"


def columns_of(node: ExecNode, columns: Sequence[int]) -> Iterator[str]:
    """The names of some columns of a node."""
    fields = node.fields
    for column in columns:
        yield fields[column].name if column < len(fields) else str(column)

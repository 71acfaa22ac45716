"""What must hold of a plan as a whole: its keys, the ids of its nodes, and its edges.

The loader of plans raises the first fault, and ``validate`` reports all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .errors import PlanError
from .findings import nearest
from .nodes import ExecNode, OpaqueNode
from .record import Record, cached_property
from .text.positions import pointer

KEYS = ("flinkVersion", "nodes", "edges")
"""The keys of the document."""


class NodeOutline(Record):
    """A node, as far as it can be read: ``index`` is its place in the list of nodes."""

    index: int
    id: int | None
    type_name: str | None
    cls: type[ExecNode] | None


class EdgeOutline(Record):
    """An edge, as far as it can be read: ``source`` and ``target`` are ids of nodes."""

    index: int
    source: int | None
    target: int | None


class Outline(Record, dict=True):
    """The nodes and edges of a plan that are objects."""

    nodes: Sequence[NodeOutline]
    edges: Sequence[EdgeOutline]

    @cached_property
    def by_id(self) -> Mapping[int, NodeOutline]:
        """The nodes by id; the first of those that share one."""
        return {node.id: node for node in reversed(self.nodes) if node.id is not None}


class Fault(Record):
    """What is wrong, by which ``rule`` of ``validate``, and where: ``node`` is the node in which ``pointer`` lies."""

    rule: str
    message: str
    pointer: str = ""
    hint: str | None = None
    node: NodeOutline | None = None

    @property
    def error(self) -> PlanError:
        """The fault as an error, whose place :func:`.document.place` turns into that in a file."""
        where = self.pointer or None
        if self.node is not None:
            where = f"node {self.node.id} ({self.pointer})"
        return PlanError(self.message, where=where, hint=self.hint)


def key_faults(document: Any) -> Iterator[Fault]:
    """The document is an object with exactly Flink's three keys."""
    if not isinstance(document, Mapping):
        yield Fault("plan-keys", f"a compiled plan is a JSON object, not {kind_of(document)}", hint="it starts with {")
        return
    for key in KEYS:
        if key not in document:
            yield Fault("plan-keys", f"the plan has no '{key}'", hint=f"a plan has {', '.join(KEYS)}")
    for key in document:
        if key not in KEYS:
            hint = nearest(key, KEYS) or "Flink refuses it; put your own data into a node, under 'flinkplan'"
            yield Fault("plan-keys", f"the plan has the unknown top-level key '{key}'", pointer(key), hint)


def kind_of(value: Any) -> str:
    """``a list``: what a JSON value is."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def structure_faults(outline: Outline) -> Iterator[Fault]:
    """All faults of nodes and edges."""
    for check in (emptiness_faults, mode_faults, id_faults, edge_faults, order_faults, input_faults):
        yield from check(outline)


def emptiness_faults(outline: Outline) -> Iterator[Fault]:
    """There are nodes."""
    if not outline.nodes:
        yield Fault("dead-end", "the plan has no nodes", "/nodes", "a plan has at least a source and a sink")


def mode_faults(outline: Outline) -> Iterator[Fault]:
    """All nodes are of the same runtime mode, streaming or batch."""
    known = [(node, node.cls.metadata.is_batch) for node in outline.nodes if node.cls is not None]
    for node, is_batch in known:
        if is_batch is not known[0][1]:
            (first, _), modes = known[0], ("streaming", "batch")
            message = f"is a node of {modes[is_batch]} mode, but {first.type_name} is one of {modes[not is_batch]} mode"
            hint = "compile the whole pipeline in one mode, which is execution.runtime-mode"
            yield Fault("runtime-mode", message, pointer("nodes", node.index, "type"), hint, node)


def id_faults(outline: Outline) -> Iterator[Fault]:
    """No two nodes share an id."""
    for node in outline.nodes:
        if node.id is not None and (first := outline.by_id[node.id]) is not node:
            message = f"the id {node.id} is used twice, first by {first.type_name}"
            hint = f"use {max(outline.by_id) + 1}, and change the edges too"
            yield Fault("node-id", message, pointer("nodes", node.index, "id"), hint, node)


def edge_faults(outline: Outline) -> Iterator[Fault]:
    """Every edge connects two nodes."""
    for edge in outline.edges:
        for end, node_id in (("source", edge.source), ("target", edge.target)):
            if node_id is not None and node_id not in outline.by_id:
                known = ", ".join(map(str, sorted(outline.by_id)[:20])) or "none"
                message = f"the edge's {end} is node {node_id}, which does not exist"
                yield Fault("edge-end", message, pointer("edges", edge.index, end), f"the ids are {known}")


def input_faults(outline: Outline) -> Iterator[Fault]:
    """Every node has the right number of inputs."""
    fed = Counter(edge.target for edge in outline.edges)
    for node in outline.nodes:
        if node.id is None or node.cls is None or outline.by_id[node.id] is not node:
            continue
        count, needed, name = fed[node.id], node.cls.metadata.inputs, node.cls.metadata.name
        place = pointer("nodes", node.index)
        if needed is not None and count != needed:
            message = f"'{name}' has {count or 'no'} input{'s' if count > 1 else ''}, but needs {needed or 'none'}"
            yield Fault("input-count", message, place, f'every input is an edge with "target" : {node.id}', node)
        elif not count and needed is None and not issubclass(node.cls, OpaqueNode):
            yield Fault("input-count", f"'{name}' has no input", place, "every input is an edge", node)


def order_faults(outline: Outline) -> Iterator[Fault]:
    """The edges form no cycle, and the nodes are in topological order."""
    cycle = _cycle(outline)
    if cycle:
        first = next(node for node in outline.nodes if node.id in cycle)
        message = f"the nodes {', '.join(map(str, sorted(cycle)))} form a cycle"
        yield Fault("cycle", message, pointer("nodes", first.index), "remove one of the edges", first)
        return
    for source_id, target_id in _connections(outline):
        source, target = outline.by_id[source_id], outline.by_id[target_id]
        if source.index > target.index:
            message = f"is listed before its input, node {source.id}"
            place = pointer("nodes", target.index, "id")
            yield Fault("node-order", message, place, "list the nodes from the sources to the sinks", target)


def _connections(outline: Outline) -> list[tuple[int, int]]:
    """The ids of the nodes that each edge connects, of edges whose ends exist."""
    ends = ((edge.source, edge.target) for edge in outline.edges)
    known = outline.by_id
    return [(a, b) for a, b in ends if a is not None and b is not None and a in known and b in known]


def _cycle(outline: Outline) -> set[int]:
    """The ids of nodes in cycles: neither a topological order from the sources nor one from the sinks reaches them."""
    forwards = _connections(outline)
    backwards = [(target, source) for source, target in forwards]
    return _unreached(outline.by_id, forwards) & _unreached(outline.by_id, backwards)


def _unreached(ids: Iterable[int], edges: Sequence[tuple[int, int]]) -> set[int]:
    """The nodes that a topological order does not reach."""
    targets: dict[int, list[int]] = {}
    for source, target in edges:
        targets.setdefault(source, []).append(target)
    missing = Counter(target for _, target in edges)
    unreached = set(ids)
    reached = [i for i in ids if not missing[i]]
    for node in reached:
        unreached.remove(node)
        for target in targets.get(node, ()):
            missing[target] -= 1
            if not missing[target]:
                reached.append(target)
    return unreached

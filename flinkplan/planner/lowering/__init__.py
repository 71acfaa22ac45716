"""From the physical algebra to the compiled plan: one function per operator, found by its class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...plan.document import FLINK_VERSION, Edge, Plan
from ...plan.nodes.base import ExecNode
from ...plan.record import replace
from ..algebra.logical import Rel
from ..physical.changelog import Modes
from . import aggregates, joins, ranks, relational, stream_windows, windows
from .context import Context

_RULES: dict[type[Rel], Callable[[Any, Context], ExecNode]] = {
    **relational.RULES,
    **aggregates.RULES,
    **windows.RULES,
    **stream_windows.RULES,
    **joins.RULES,
    **ranks.RULES,
}


def lower(sinks: Sequence[Rel], modes: Modes, config: Mapping[str, str], *, complete: bool = False) -> Plan:
    """The plan of physical trees.  A relation that several share (the same object) becomes one node.

    Ids count from 1, inputs before the operators that read them, sink by sink.  ``complete``: :class:`Context`.
    """
    context = Context(modes, config, complete)
    nodes: list[ExecNode] = []
    ids: dict[int, int] = {}
    edges: list[Edge] = []

    def visit(rel: Rel) -> int:
        found = ids.get(id(rel))
        if found is None:
            sources = [visit(i) for i in rel.inputs]
            found = ids[id(rel)] = len(nodes) + 1
            nodes.append(replace(_RULES[type(rel)](rel, context), id=found))
            edges.extend(Edge(source, found) for source in sources)
        return found

    for sink in sinks:
        visit(sink)
    return Plan(FLINK_VERSION, tuple(nodes), tuple(edges))

"""Which operators serve which sinks: on Spark each sink is written by a query of its own, with its own checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..plan.document import Plan
from ..plan.nodes import ExecNode
from .comparing import Comparison


def sinks_fed(plan: Plan) -> Mapping[int, frozenset[int]]:
    """The ids of the sinks that each node feeds, by node id.  The plan is in topological order."""
    found: dict[int, frozenset[int]] = {}
    for node in reversed(plan.nodes):
        outputs = plan.outputs(node)
        found[node.id] = frozenset().union(*(found[o.id] for o in outputs)) if outputs else frozenset((node.id,))
    return found


def nodes_of(plan: Plan, sink: ExecNode) -> Iterator[ExecNode]:
    """A sink and all that it is fed by, each once: a node before its inputs, the left input before the right."""
    seen: set[int] = set()
    stack = [sink]
    while stack:
        node = stack.pop()
        if node.id not in seen:
            seen.add(node.id)
            yield node
            stack.extend(reversed(plan.inputs(node)))


def sources_of(plan: Plan, sink: ExecNode) -> list[ExecNode]:
    """The sources that feed a sink, in the order in which Spark counts them."""
    return [node for node in nodes_of(plan, sink) if not plan.inputs(node)]


class Queries:
    """The queries that are only under one of two plans."""

    def __init__(self, c: Comparison) -> None:
        became = c.became()
        kept = {new.id for new in became.values()}
        self.added = frozenset(n for n, sinks in sinks_fed(c.new.plan).items() if not sinks & kept)
        """The ids of the new nodes that serve only new sinks."""
        self.removed = frozenset(n for n, sinks in sinks_fed(c.old.plan).items() if not sinks & became.keys())
        """The ids of the old nodes that served only sinks that are gone."""

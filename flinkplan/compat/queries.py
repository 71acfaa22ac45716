"""Which operators serve which sinks: on Spark each sink is written by a query of its own, with its own checkpoint."""

from __future__ import annotations

from collections.abc import Mapping

from ..plan.document import Plan
from ..plan.nodes import TableSourceScan, WatermarkAssigner
from .comparing import Comparison


def sinks_fed(plan: Plan) -> Mapping[int, frozenset[int]]:
    """The ids of the sinks that each node feeds, by node id.  The plan is in topological order."""
    found: dict[int, frozenset[int]] = {}
    for node in reversed(plan.nodes):
        outputs = plan.outputs(node)
        found[node.id] = frozenset().union(*(found[o.id] for o in outputs)) if outputs else frozenset((node.id,))
    return found


END = 0
"""Stands for the source that ends the input of a query, in the place of a node's id."""

_LIMIT = 10_000


def sources_feeding(plan: Plan) -> Mapping[int, tuple[int, ...]]:
    """The ids of the sources that feed each node, by node id, in the order in which Spark counts them.

    One that feeds a node by several ways comes once for each of them.  Every watermark comes with an :data:`END`.
    Beyond some ten thousand the list is cut off.
    """
    found: dict[int, tuple[int, ...]] = {}
    for node in plan.nodes:
        sources = tuple(source for i in plan.inputs(node) for source in found[i.id])
        if isinstance(node, TableSourceScan):
            sources = (node.id,)
        elif isinstance(node, WatermarkAssigner):
            sources = (*sources, END)
        found[node.id] = sources[:_LIMIT]
    return found


class Queries:
    """The queries that are only under one of two plans."""

    def __init__(self, c: Comparison) -> None:
        became = c.became()
        kept = {new.id for new in became.values()}
        self.added = frozenset(n for n, sinks in sinks_fed(c.new.plan).items() if not sinks & kept)
        """The ids of the new nodes that serve only new sinks."""
        self.removed = frozenset(n for n, sinks in sinks_fed(c.old.plan).items() if not sinks & became.keys())
        """The ids of the old nodes that served only sinks that are gone."""

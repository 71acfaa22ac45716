"""Which operators feed which sinks: on Spark each sink has a query of its own, with its own checkpoint."""

from __future__ import annotations

from collections.abc import Mapping

from ..plan.document import Plan
from ..plan.nodes import TableSourceScan, WatermarkAssigner
from .comparing import Comparison


def sinks_fed(plan: Plan) -> Mapping[int, frozenset[int]]:
    """The ids of the sinks that each node feeds, by node id.  The plan is in topological order."""
    sinks: dict[int, frozenset[int]] = {}
    for node in reversed(plan.nodes):
        outputs = plan.outputs(node)
        sinks[node.id] = frozenset().union(*(sinks[o.id] for o in outputs)) if outputs else frozenset((node.id,))
    return sinks


END = 0
"""Stands, instead of a node's id, for the extra source that ends the input of a query."""

_LIMIT = 10_000


def sources_feeding(plan: Plan) -> Mapping[int, tuple[int, ...]]:
    """The ids of the sources that feed each node, by node id, in the order in which Spark numbers them.

    A source that feeds a node on several paths occurs once for each path.  Every watermark adds an :data:`END`.  Lists
    are cut off at 10,000 sources.
    """
    sources_by_node: dict[int, tuple[int, ...]] = {}
    for node in plan.nodes:
        sources = tuple(source for i in plan.inputs(node) for source in sources_by_node[i.id])
        if isinstance(node, TableSourceScan):
            sources = (node.id,)
        elif isinstance(node, WatermarkAssigner):
            sources = (*sources, END)
        sources_by_node[node.id] = sources[:_LIMIT]
    return sources_by_node


class Queries:
    """The nodes of queries that are in only one of two plans."""

    def __init__(self, c: Comparison) -> None:
        became = c.became()
        kept = {new.id for new in became.values()}
        self.added = frozenset(n for n, sinks in sinks_fed(c.new.plan).items() if not sinks & kept)
        """The ids of the new nodes that feed only new sinks."""
        self.removed = frozenset(n for n, sinks in sinks_fed(c.old.plan).items() if not sinks & became.keys())
        """The ids of the old nodes that fed only removed sinks."""

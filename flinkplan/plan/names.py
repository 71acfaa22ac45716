"""Names of a plan's nodes that stay the same when the pipeline is compiled again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from .document import Plan


def node_names(plan: Plan) -> Mapping[int, str]:
    """The names by node id: ``join``, or ``join#2`` for the second of several joins, counted from the sources."""
    totals = Counter(node.metadata.name for node in plan.nodes)
    counts: Counter[str] = Counter()
    names: dict[int, str] = {}
    for node in plan.nodes:
        name = node.metadata.name
        counts[name] += 1
        short = node.metadata.short_name
        names[node.id] = f"{short}#{counts[name]}" if totals[name] > 1 else short
    return names

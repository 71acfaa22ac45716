"""Names of sources of event time, by which their watermarks are kept."""

from __future__ import annotations

from collections import Counter

from ....plan.document import Plan
from ....plan.nodes import WatermarkAssigner
from .sources import scan_below


def source_names(plan: Plan) -> dict[int, str]:
    """Names of the sources by the ids of their watermark assigners, which are others whenever a plan is compiled."""
    counts: Counter[str] = Counter()
    names = {}
    for node in plan.nodes:
        if isinstance(node, WatermarkAssigner):
            scan = scan_below(node, plan)
            identifier = "" if scan is None else scan.scan_table_source.table.identifier
            counts[identifier] += 1
            names[node.id] = f"{identifier}#{counts[identifier]}"
    return names

"""The parts of a plan that run as queries of their own, one a sink."""

from __future__ import annotations

from ..plan.document import Plan
from ..plan.nodes import Sink


def queries_of(plan: Plan) -> dict[str, Plan]:
    """What each sink's query runs, by the name of its table; a table written again has a number behind."""
    found: dict[str, Plan] = {}
    for node in plan.nodes:
        if isinstance(node, Sink):
            base = node.dynamic_table_sink.table.name
            count = sum(1 for name in found if name == base or name.startswith(f"{base}-"))
            found[f"{base}-{count + 1}" if count else base] = _part_for(plan, node)
    return found


def _part_for(plan: Plan, sink: Sink) -> Plan:
    """The sink and all that it reads from, in the plan's order."""
    wanted = {node.id for node in plan.upstream([sink])}
    nodes = tuple(node for node in plan.nodes if node.id in wanted)
    return Plan(plan.flink_version, nodes, tuple(edge for edge in plan.edges if edge.target in wanted))

"""2: Before 1.18 a sink's upsert key and its need to sort out rows stood behind its inputs."""

from __future__ import annotations

from ...plan.document import Plan
from ...plan.record import replace


def newest(plan: Plan) -> Plan:
    """The plan with the keys of each node in the order in which the newest release writes them."""
    return replace(plan, nodes=tuple(n if n.unknown else replace(n, key_order=()) for n in plan.nodes))

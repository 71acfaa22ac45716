"""2: Before 1.18 the upsert key and the materialization of a sink were written after its inputs."""

from __future__ import annotations

from ...plan.document import Plan
from ...plan.record import replace


def newest(plan: Plan) -> Plan:
    """The plan with the JSON keys of each node in the order of the newest release."""
    return replace(plan, nodes=tuple(n if n.unknown else replace(n, key_order=()) for n in plan.nodes))

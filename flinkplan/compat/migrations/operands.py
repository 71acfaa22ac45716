"""11: Since 2.3 a call without operands has no list of them."""

from __future__ import annotations

from typing import Any

from ...plan.document import Plan, plan_from_json, plan_to_json


def leave_out(plan: Plan) -> Plan:
    """The plan without empty lists of operands, also where flinkplan keeps JSON as it is."""
    return plan_from_json(_trimmed(plan_to_json(plan)))


def _trimmed(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(_trimmed, value))
    if not isinstance(value, dict):
        return value
    kept = value
    if value.get("kind") == "CALL" and value.get("operands") == []:
        kept = {k: v for k, v in value.items() if k != "operands"}
    return {k: _trimmed(v) for k, v in kept.items()}

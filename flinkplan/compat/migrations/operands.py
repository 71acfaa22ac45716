"""11: Since 2.3 a call without operands has no list of them."""

from __future__ import annotations

from typing import Any

from ...plan.document import Plan
from .rewriting import rewritten


def leave_out(plan: Plan) -> Plan:
    """The plan without empty lists of operands, also in JSON that flinkplan does not interpret."""
    return rewritten(plan, _without_operands)


def _without_operands(json: dict[str, Any]) -> dict[str, Any]:
    if json.get("kind") == "CALL" and json.get("operands") == []:
        return {k: v for k, v in json.items() if k != "operands"}
    return json

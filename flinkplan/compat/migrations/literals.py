"""1: Before 1.18 constants were spelled otherwise.

A search said whether it contains NULL instead of what it yields for NULL; a whole number was a text where Calcite
computes with it as a DECIMAL, and a DOUBLE or FLOAT was a number.
"""

from __future__ import annotations

from typing import Any

from ...plan.document import Plan
from ...plan.text.spelling import literal_value, plain
from .rewriting import rewritten


def spelled_anew(plan: Plan) -> Plan:
    """The plan with its constants as releases since 1.18 spell them."""
    return rewritten(plan, _literal)


def _literal(json: dict[str, Any]) -> dict[str, Any]:
    if json.get("kind") != "LITERAL":
        return json
    if (sarg := json.get("sarg")) is not None:
        null_as = "TRUE" if sarg.get("containsNull") else "UNKNOWN"
        return {**json, "sarg": {"ranges": sarg["ranges"], "nullAs": sarg.get("nullAs", null_as)}}
    root = str(json.get("type")).removesuffix(" NOT NULL")
    return {**json, "value": plain(literal_value(json.get("value"), root))}

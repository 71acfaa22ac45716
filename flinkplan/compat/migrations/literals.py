"""1: Before 1.18 literals had another spelling.

A search argument declared whether it contains NULL, and not its result for NULL; a whole number was a text where
Calcite treats it as a DECIMAL, and a DOUBLE or FLOAT was a number.
"""

from __future__ import annotations

from typing import Any

from ...plan.document import Plan
from ...plan.text.spelling import literal_value, plain
from .rewriting import rewritten


def with_new_spelling(plan: Plan) -> Plan:
    """The plan with its literals in the spelling of releases since 1.18."""
    return rewritten(plan, _literal)


def _literal(json: dict[str, Any]) -> dict[str, Any]:
    if json.get("kind") != "LITERAL":
        return json
    if (sarg := json.get("sarg")) is not None:
        null_as = "TRUE" if sarg.get("containsNull") else "UNKNOWN"
        return {**json, "sarg": {"ranges": sarg["ranges"], "nullAs": sarg.get("nullAs", null_as)}}
    root = str(json.get("type")).removesuffix(" NOT NULL")
    return {**json, "value": plain(literal_value(json.get("value"), root))}

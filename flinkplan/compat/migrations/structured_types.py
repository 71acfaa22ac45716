"""8: Since 2.1 a structured type is a text, such as ``STRUCTURED<'org.example.Money', `amount` DECIMAL(10, 2)>``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...plan.document import Plan
from .rewriting import rewritten


def as_text(plan: Plan) -> Plan:
    """The plan with its structured types written as text, where this is possible."""
    return rewritten(plan, lambda json: _text(json) or json)


def _text(value: Mapping[str, Any]) -> str | None:
    """The text of a structured type; ``None`` for other types, and for attributes that a text cannot express."""
    if value.get("type") != "STRUCTURED_TYPE" or value.keys() - {
        "type",
        "nullable",
        "implementationClass",
        "attributes",
    }:
        return None
    attributes = value.get("attributes", [])
    if any(a.keys() != {"name", "attributeType"} or not isinstance(a["attributeType"], str) for a in attributes):
        return None
    inner = ", ".join(
        [f"'{value.get('implementationClass')}'", *(f"`{a['name']}` {a['attributeType']}" for a in attributes)]
    )
    return f"STRUCTURED<{inner}>" + ("" if value.get("nullable", True) else " NOT NULL")

"""Rewriting the JSON of a plan, also where flinkplan keeps it as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...plan.document import Plan, plan_from_json, plan_to_json


def rewritten(plan: Plan, change: Callable[[dict[str, Any]], Any]) -> Plan:
    """The plan with each of its JSON objects, inner ones first, as ``change`` leaves it."""

    def rewrite(value: Any) -> Any:
        if isinstance(value, list):
            return list(map(rewrite, value))
        if not isinstance(value, dict):
            return value
        return change({k: rewrite(v) for k, v in value.items()})

    return plan_from_json(rewrite(plan_to_json(plan)))

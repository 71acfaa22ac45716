"""Rewrites the JSON of a plan, also the parts that flinkplan does not interpret."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...plan.document import Plan, plan_from_json, plan_to_json


def rewritten(plan: Plan, change: Callable[[dict[str, Any]], Any]) -> Plan:
    """The plan with ``change`` applied to each of its JSON objects, inner ones first."""

    def rewrite(value: Any) -> Any:
        if isinstance(value, list):
            return list(map(rewrite, value))
        if not isinstance(value, dict):
            return value
        return change({k: rewrite(v) for k, v in value.items()})

    return plan_from_json(rewrite(plan_to_json(plan)))

"""Nodes without what never matters, so that plans of different releases and runs compare."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..plan.document import Plan
from ..plan.nodes import ExecNode, node_to_json

COSMETIC = ("id", "type", "description")
"""Fields that say nothing about what a node does; the type is compared by name, without its version."""


def content(node: ExecNode) -> dict[str, Any]:
    """The node's JSON without cosmetic fields and without empties, which releases before 2.0 spell out."""
    own = {k: v for k, v in node_to_json(node).items() if k not in COSMETIC and k not in node.unknown}
    trimmed = trim(own)
    return trimmed if isinstance(trimmed, dict) else {}


def trim(value: Any) -> Any:
    """A JSON value without nulls, empty lists and empty objects; whole empties become ``None``."""
    if isinstance(value, Mapping):
        kept = {k: t for k, v in value.items() if (t := trim(v)) is not None}
        return kept or None
    if isinstance(value, list):
        return [trim(v) for v in value] or None
    return value


def signatures(old: Plan, new: Plan) -> tuple[dict[int, int], dict[int, int]]:
    """Numbers by node id, equal exactly for equal sub-plans; ids and node order do not matter."""
    interned: dict[str, int] = {}
    return _signatures(old, interned), _signatures(new, interned)


def _signatures(plan: Plan, interned: dict[str, int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for node in plan.nodes:
        inputs = [found[i.id] for i in plan.inputs(node)]
        text = json.dumps([node.metadata.name, content(node), inputs], sort_keys=True)
        found[node.id] = interned.setdefault(text, len(interned))
    return found

"""Nodes without what never matters, so that plans of different releases and runs compare."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..plan.document import Plan
from ..plan.nodes import ExecNode, OpaqueNode, Union, node_to_json

COSMETIC = ("id", "type", "description")
"""Fields that say nothing about what a node does; the type is compared by name, without its version."""

_SQL = "serializableString"
"""The SQL text beside an expression, which releases quote in different ways."""


def content(node: ExecNode) -> dict[str, Any]:
    """The node's JSON without cosmetic fields and without empties, which releases before 2.0 spell out.

    Fields that Flink would ignore are left out too; of a node that is kept as it is, they are all there is.
    """
    ignored = () if isinstance(node, OpaqueNode) else node.unknown
    own = {k: v for k, v in node_to_json(node).items() if k not in COSMETIC and k not in ignored}
    trimmed = trim(own)
    return trimmed if isinstance(trimmed, dict) else {}


def trim(value: Any) -> Any:
    """A JSON value without nulls, empties, SQL beside its expression and names of keys; whole empties are ``None``."""
    if isinstance(value, Mapping):
        kept = {k: t for k, v in value.items() if (t := trim(v)) is not None and not _is_beside(k, value)}
        return kept or None
    if isinstance(value, list):
        return [trim(v) for v in value] or None
    return value


def _is_beside(key: str, value: Mapping[str, Any]) -> bool:
    """Whether a key of a JSON object says nothing that the others do not say.

    Flink makes up the name of a primary key: from its columns since 1.19, before that by a hash.
    """
    return (key == _SQL and "rexNode" in value) or (key == "name" and value.get("type") == "PRIMARY_KEY")


class Numbering:
    """Equal numbers for equal values, in both plans."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def of(self, value: Any) -> int:
        """The number of a JSON value."""
        return self._numbers.setdefault(json.dumps(value, sort_keys=True), len(self._numbers))


def contents(plan: Plan, numbering: Numbering) -> dict[int, int]:
    """A number by node id, equal exactly for nodes of equal content."""
    return {n.id: numbering.of([n.metadata.name, content(n)]) for n in plan.nodes}


def signatures(plan: Plan, numbers: Mapping[int, int], numbering: Numbering) -> dict[int, int]:
    """A number by node id, equal exactly for equal sub-plans; the order of a union's inputs does not matter.

    ``numbers`` are the nodes' :func:`contents`.
    """
    found: dict[int, int] = {}
    for node in plan.nodes:
        inputs = [found[i.id] for i in plan.inputs(node)]
        if isinstance(node, Union):
            inputs.sort()
        found[node.id] = numbering.of([numbers[node.id], inputs])
    return found

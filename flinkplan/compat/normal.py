"""The comparable content of nodes, without parts that differ between releases and runs but have no meaning."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..plan.document import Plan
from ..plan.nodes import ExecNode, OpaqueNode, Union, node_to_json
from ..plan.record import cached_on_record

COSMETIC = ("id", "type", "description")
"""Fields that do not affect what a node does; its type is compared by name, without the version."""

_SQL = "serializableString"
"""The SQL text of an expression, which releases quote in different ways."""


def content(node: ExecNode) -> dict[str, Any]:
    """The node's JSON without cosmetic fields, and without empty values, which only releases before 2.0 write.

    Fields that Flink ignores are left out too, except for a node whose type is unknown.
    """
    ignored = () if isinstance(node, OpaqueNode) else node.unknown
    own = {k: v for k, v in node_to_json(node).items() if k not in COSMETIC and k not in ignored}
    trimmed = trim(own)
    return trimmed if isinstance(trimmed, dict) else {}


def trim(value: Any) -> Any:
    """A JSON value without nulls, empty values, SQL texts of expressions and names of keys; ``None`` if it is empty."""
    if type(value) in _ATOMS:  # most values, of which the tests below are slow
        return value
    if isinstance(value, Mapping):
        kept = {k: t for k, v in value.items() if (t := trim(v)) is not None and not _is_redundant(k, value)}
        return kept or None
    if isinstance(value, list):
        return [trim(v) for v in value] or None
    return value


def _is_redundant(key: str, value: Mapping[str, Any]) -> bool:
    """Whether a key of a JSON object has no information besides the others.

    Flink generates the name of a primary key, since 1.19 from its columns, before that as a hash.
    """
    return (key == _SQL and "rexNode" in value) or (key == "name" and value.get("type") == "PRIMARY_KEY")


_ATOMS = frozenset((str, int, bool, float, type(None)))


class Numbering:
    """Gives equal values of both plans equal numbers."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def of(self, value: Any) -> int:
        """The number of a JSON value."""
        return self.of_text(json.dumps(value, sort_keys=True))

    def of_text(self, text: str) -> int:
        """The number of a text; texts of different JSON values differ."""
        return self._numbers.setdefault(text, len(self._numbers))


def contents(plan: Plan, numbering: Numbering) -> dict[int, int]:
    """A number for each node id; it is equal exactly for nodes of equal content."""
    return {node: numbering.of_text(text) for node, text in _texts(plan).items()}


@cached_on_record
def _texts(plan: Plan) -> Mapping[int, str]:
    """The JSON text of each node's type and content, by the node's id; a plan is compared several times."""
    return {n.id: json.dumps([n.metadata.name, content(n)], sort_keys=True) for n in plan.nodes}


def signatures(plan: Plan, numbers: Mapping[int, int], numbering: Numbering) -> dict[int, int]:
    """A number for each node id; it is equal exactly for equal sub-plans.  The order of a union's inputs is ignored.

    ``numbers`` are the nodes' :func:`contents`.
    """
    by_node: dict[int, int] = {}
    for node in plan.nodes:
        inputs = [by_node[i.id] for i in plan.inputs(node)]
        if isinstance(node, Union):
            inputs.sort()
        by_node[node.id] = numbering.of([numbers[node.id], inputs])
    return by_node

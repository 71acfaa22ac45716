"""A plan as parsed JSON, read so tolerantly that every check can go on where another has found something."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...plan.codec import field_codecs, read_field
from ...plan.errors import FlinkplanError
from ...plan.findings import Finding
from ...plan.nodes import ExecNode, node_from_json
from ...plan.nodes.base import class_named
from ...plan.record import Record, cached_property
from ...plan.structure import EdgeOutline, NodeOutline, Outline
from ...plan.text.positions import pointer
from ...plan.types import RowField
from .rules import RULES


class RawNode(Record, dict=True):
    """An element of ``nodes`` that is an object."""

    index: int
    json: Mapping[str, Any]

    @property
    def id(self) -> int | None:
        return _whole_number(self.json.get("id"))

    @property
    def type_name(self) -> str | None:
        type_name = self.json.get("type")
        return type_name if isinstance(type_name, str) else None

    @property
    def name(self) -> str | None:
        """The type without its version, where it is known."""
        return self.cls.metadata.name if self.cls else None

    @cached_property
    def cls(self) -> type[ExecNode] | None:
        """The node's class, where its name is known."""
        return class_named(self.type_name or "")

    @property
    def outline(self) -> NodeOutline:
        """What its place in the plan depends on."""
        return NodeOutline(self.index, self.id, self.type_name, self.cls)

    @cached_property
    def fields(self) -> tuple[RowField, ...] | None:
        """The columns that it yields, where its output type can be read."""
        from ...plan.types.json import type_from_json

        try:
            return type_from_json(self.json["outputType"]).fields
        except Exception:
            return None

    @cached_property
    def values(self) -> Mapping[str, Any]:
        """What its fields hold, by their names, as far as it can be read."""
        values = {}
        for codec in field_codecs(self.cls) if self.cls else ():
            try:
                values[codec.name] = read_field(codec, self.json[codec.json])
            except (FlinkplanError, KeyError):
                continue
        return values

    @cached_property
    def node(self) -> ExecNode | None:
        """The node, where all of it can be read."""
        try:
            return node_from_json(self.json)
        except FlinkplanError:
            return None

    @property
    def columns(self) -> int | None:
        """How many columns it yields, where its output type can be read."""
        return None if self.fields is None else len(self.fields)

    def at(self, *steps: str | int) -> str:
        """The JSON pointer of something inside the node."""
        return pointer("nodes", self.index, *steps)

    def finding(self, rule: str, message: str, *steps: str | int, hint: str | None = None) -> Finding:
        """A finding inside the node."""
        return Finding(rule, RULES[rule].severity, message, self.at(*steps), None, self.id, self.type_name, hint)


class RawPlan(Record, dict=True):
    """The whole document; whatever is not of the right kind is left out here and told by the schema."""

    json: Any

    @cached_property
    def nodes(self) -> tuple[RawNode, ...]:
        return tuple(RawNode(i, n) for i, n in self._objects("nodes"))

    @cached_property
    def outline(self) -> Outline:
        """The nodes and edges without what is in them."""
        return Outline([node.outline for node in self.nodes], self.edges)

    @cached_property
    def edges(self) -> tuple[EdgeOutline, ...]:
        return tuple(
            EdgeOutline(i, _whole_number(e.get("source")), _whole_number(e.get("target")))
            for i, e in self._objects("edges")
        )

    def _objects(self, key: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
        items = self.json.get(key) if isinstance(self.json, Mapping) else None
        for index, item in enumerate(items if isinstance(items, list) else ()):
            if isinstance(item, Mapping):
                yield index, item

    @cached_property
    def by_id(self) -> Mapping[int, RawNode]:
        """The nodes by id; the first of those that share one."""
        return {node.id: node for node in reversed(self.nodes) if node.id is not None}

    @cached_property
    def _sources(self) -> Mapping[int, tuple[RawNode, ...]]:
        sources_of: dict[int, list[RawNode]] = {}
        for edge in self.edges:
            if edge.target is not None and edge.source is not None and edge.source in self.by_id:
                sources_of.setdefault(edge.target, []).append(self.by_id[edge.source])
        return {target: tuple(sources) for target, sources in sources_of.items()}

    def inputs(self, node: RawNode) -> tuple[RawNode, ...]:
        """The nodes that feed ``node``, in order, as far as they exist."""
        return self._sources.get(node.id, ()) if node.id is not None else ()


def _whole_number(value: Any) -> int | None:
    return value if type(value) is int else None

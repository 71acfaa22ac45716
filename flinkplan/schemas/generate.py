"""Derives JSON Schemas from the records that read the documents: ``python -m flinkplan.schemas.generate``.

The node registry and the field declarations are the single source; what they cannot say (expressions, types,
durations) is written out here.  Of the schema of YAML pipelines only the assigners, triggers and evictors of windows
are derived; the rest of that file is written by hand.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from ..plan.codec import field_codecs, unknown_keeper
from ..plan.document import Edge
from ..plan.nodes import ExecNode, node_classes
from ..plan.rex import RexNode
from ..plan.specs import Evictor, StateMetadata, Trigger, WindowAssigner
from ..plan.specs.window_parts import ValueKind, WindowPart, declared_arguments, declared_parts
from ..plan.types import LogicalType
from ..state.form import Manifest
from .loader import DIALECT, PLAN, SPEC, STATE, load_schema, schema_file

Schema = dict[str, Any]

_SCALARS = {int: "integer", str: "string", bool: "boolean", float: "number"}
_REX = set(typing.get_args(RexNode))
_TYPE = {"$ref": "#/$defs/LogicalType"}
_EXPRESSION = {"$ref": "#/$defs/RexNode"}

_BY_HAND: Mapping[tuple[type, str], Schema] = {
    (StateMetadata, "ttl"): {
        "description": "How long an entry stays after its last write: '1 h', '3600000 ms' or a number of "
        "milliseconds; 0 ms is for ever.",
        "type": ["string", "integer"],
    },
}


def plan_schema() -> Schema:
    """The JSON Schema of a compiled plan."""
    definitions = _Definitions()
    nodes = sorted(node_classes(), key=lambda cls: cls.metadata.name)
    node: Schema = {
        "type": "object",
        "required": ["id", "type"],
        "properties": {"type": {"enum": sorted(t for cls in nodes for t in _node_types(cls))}},
        "allOf": [_when("type", _node_types(cls), definitions.reference(cls)) for cls in nodes],
    }
    edge = definitions.reference(Edge)
    return {
        "$schema": DIALECT,
        "$id": "urn:flinkplan:schema:plan:1",
        "title": "Compiled plan",
        "description": "What Flink's COMPILE PLAN writes, and flinkplan compile.",
        "type": "object",
        "required": ["flinkVersion", "nodes", "edges"],
        "additionalProperties": False,
        "properties": {
            "flinkVersion": {"description": "The release that compiled the plan.", "type": "string"},
            "nodes": {"description": "In topological order.", "type": "array", "items": node},
            "edges": {
                "description": "A target's edges stand in the order of its inputs.",
                "type": "array",
                "items": edge,
            },
        },
        "$defs": {"LogicalType": _logical_type(), "RexNode": _rex_node(), **dict(sorted(definitions.schemas.items()))},
    }


class _Definitions:
    """The definitions of records, each made when it is first referred to."""

    def __init__(self) -> None:
        self.schemas: dict[str, Schema] = {}

    def reference(self, cls: type) -> Schema:
        if cls.__name__ not in self.schemas:
            self.schemas[cls.__name__] = {}  # ends the recursion for a record that contains itself
            self.schemas[cls.__name__] = self._tagged(cls) if "__tag__" in cls.__dict__ else self._object(cls)
        return {"$ref": f"#/$defs/{cls.__name__}"}

    def _object(self, cls: Any) -> Schema:
        hints = typing.get_type_hints(cls)
        properties: Schema = {}
        if tag := getattr(cls, "__tag_value__", None):
            properties[cls.__tag_name__] = {"const": tag}
        required = list(properties)
        is_node = issubclass(cls, ExecNode)
        for codec in field_codecs(cls):
            if is_node and codec.name == "version":
                properties["type"] = {"enum": _node_types(cls)}
                continue
            by_hand = _BY_HAND.get((cls, codec.name))
            properties[codec.json] = by_hand or self._value(hints[codec.name])
            if codec.always_written:
                required.append(codec.json)
        schema: Schema = {"description": _summary(cls), "type": "object", "properties": properties}
        if required:
            schema["required"] = required
        if unknown_keeper(cls) is None:
            schema["additionalProperties"] = False
        return schema

    def _tagged(self, cls: Any) -> Schema:
        tag: str = cls.__tag_name__
        variants: dict[str, type] = cls.__tag__
        return {
            "description": _summary(cls),
            "type": "object",
            "required": [tag],
            "properties": {tag: {"enum": list(variants)}},
            "allOf": [_when(tag, [value], self.reference(variant)) for value, variant in variants.items()],
        }

    def _value(self, hint: Any) -> Schema:
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if hint is Any:
            return {}
        if hint is LogicalType:
            return _TYPE
        if hint in _SCALARS:
            return {"type": _SCALARS[hint]}
        if origin in (typing.Union, types.UnionType):
            return self._union(set(args))
        if origin is tuple:
            return {"type": "array", "items": self._value(args[0])}
        if inspect.isclass(origin) and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self._value(args[1])}
        if issubclass(hint, Enum):
            return {"enum": [member.value for member in hint]}
        return self.reference(hint)

    def _union(self, members: set[Any]) -> Schema:
        if members >= _REX:
            inner: Schema = _EXPRESSION
        else:
            (only,) = members - {type(None)}
            inner = self._value(only)
        if type(None) not in members or not inner:
            return inner
        if isinstance(inner.get("type"), str):
            return {**inner, "type": [inner["type"], "null"]}
        return {"anyOf": [inner, {"type": "null"}]}


def _node_types(cls: type[ExecNode]) -> list[str]:
    return [f"{cls.metadata.name}_{version}" for version in cls.metadata.versions]


def _when(name: str, values: list[str], then: Schema) -> Schema:
    return {"if": {"required": [name], "properties": {name: {"enum": values}}}, "then": then}


def _summary(cls: type) -> str:
    return " ".join((inspect.getdoc(cls) or "").partition("\n\n")[0].split())


def _logical_type() -> Schema:
    return {
        "description": "A logical type: text such as 'VARCHAR(10) NOT NULL', or an object where text cannot say it.",
        "type": ["string", "object"],
        "required": ["type"],
        "properties": {
            "type": {"type": "string"},
            "nullable": {"type": "boolean"},
            "precision": {"type": "integer"},
            "kind": {"enum": ["REGULAR", "ROWTIME", "PROCTIME"]},
            "fields": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["name", "fieldType"],
                    "properties": {"name": {"type": "string"}, "fieldType": _TYPE, "description": {"type": "string"}},
                },
            },
        },
    }


def _rex_node() -> Schema:
    kinds: list[tuple[str, Iterable[str], Schema]] = [
        ("INPUT_REF", ("inputIndex", "type"), {"inputIndex": {"type": "integer", "minimum": 0}}),
        ("LITERAL", ("type",), {"symbol": {"type": "string"}, "sarg": {"type": "object"}}),
        (
            "CALL",
            ("type",),
            {
                "syntax": {"type": "string"},
                "internalName": {"type": "string"},
                "operands": {"type": "array", "items": _EXPRESSION},
            },
        ),
        ("FIELD_ACCESS", ("name", "expr"), {"name": {"type": "string"}, "expr": _EXPRESSION}),
        ("CORREL_VARIABLE", ("correl", "type"), {"correl": {"type": "string"}}),
    ]
    return {
        "description": "A row expression.",
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"type": "string"}, "type": _TYPE},
        "allOf": [
            _when("kind", [kind], {"required": list(required), "properties": properties})
            for kind, required, properties in kinds
        ],
    }


# ---------------------------------------------------------------- windows of YAML pipelines

_VALUES: Mapping[ValueKind, Schema] = {
    ValueKind.DURATION: {"$ref": "#/$defs/duration"},
    ValueKind.COUNT: {"type": "integer"},
    ValueKind.NUMBER: {"type": "number"},
    ValueKind.FLAG: {"type": "boolean"},
    ValueKind.ROW_EXPRESSION: {"$ref": "#/$defs/sql"},
    ValueKind.PAIR_EXPRESSION: {"$ref": "#/$defs/sql"},
    ValueKind.TRIGGER: {"$ref": "#/$defs/trigger"},
}
_TEXT = {"$ref": "#/$defs/text"}
_PYTHON_CLASS = {
    "class": {"description": "A Python class by its import path, module:Class.", **_TEXT},
    "with": {"description": "The arguments that the class is made with, by name.", "type": "object"},
}


def _window_part(parts: Iterable[type[WindowPart]], before_class: Schema, of_class: Schema) -> Schema:
    keywords = "|".join(part.keyword for part in parts if part.keyword)
    pattern = f"^({keywords})$" if "|" in keywords else f"^{keywords}$"
    declared = {
        declared_argument.argument.key: {
            "description": declared_argument.argument.description,
            **_VALUES[declared_argument.kind],
        }
        for part in parts
        for declared_argument in sorted(declared_arguments(part), key=lambda declared: not declared.argument.names_part)
    }
    return {
        "type": ["string", "object"] if keywords else "object",
        **({"pattern": pattern} if keywords else {}),
        "additionalProperties": False,
        "properties": {**declared, **before_class, **_PYTHON_CLASS, **of_class},
    }


def spec_schema() -> Schema:
    """The JSON Schema of YAML pipelines, with the declared assigners, triggers and evictors."""
    assigner = {
        "time": {"description": "event, or processing for windows by the clock.", "enum": ["event", "processing"]},
        "on": {"description": "The event time, where the rows have several.", **_TEXT},
    }
    merging = {"merging": {"description": "Whether the windows of the class merge.", "type": "boolean"}}
    clock = {"clock": {"description": "Whether the class sets timers of the clock as well.", "type": "boolean"}}
    after = {"after": {"description": "Whether rows are evicted after the function, not before.", "type": "boolean"}}
    schema = load_schema(SPEC)
    windows = {
        "assigner": _window_part(declared_parts(WindowAssigner), assigner, merging),
        "trigger": _window_part(declared_parts(Trigger), {}, clock),
        "evictor": _window_part(declared_parts(Evictor), after, {}),
    }
    return {**schema, "$defs": {**schema["$defs"], **windows}}


def spec_schema_text() -> str:
    """The text of the schema's file: one line for each object that fits into it and holds no other."""
    return _compact(spec_schema()) + "\n"


_WIDTH = 130


def _compact(value: Any, depth: int = 0, before: int = 0) -> str:
    import json

    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict):
        return line
    if depth + before + len(line) <= _WIDTH and not any(isinstance(item, dict) for item in value.values()):
        return line
    items = [f'{" " * (depth + 1)}"{key}": {_compact(item, depth + 1, len(key) + 4)}' for key, item in value.items()]
    return "{\n" + ",\n".join(items) + "\n" + " " * depth + "}"


# ---------------------------------------------------------------- files


def schema_text() -> str:
    """The text of the schema's file."""
    import json

    return json.dumps(plan_schema(), indent=1, ensure_ascii=False) + "\n"


def state_schema_text() -> str:
    """The JSON Schema of the manifest of a job's state."""
    import json

    from msgspec.json import schema

    described = {"$schema": DIALECT, "title": "The manifest of a job's state", **schema(Manifest)}
    return json.dumps(described, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    schema_file(PLAN).write_text(schema_text(), "utf-8")
    schema_file(STATE).write_text(state_schema_text(), "utf-8")
    schema_file(SPEC).write_text(spec_schema_text(), "utf-8")

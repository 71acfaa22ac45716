"""Avro's schemas of columns, as Flink derives them.

Source: ``AvroSchemaConverter`` of ``flink-avro``, with the older mapping of timestamps.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

from ...plan.types import LogicalType

Fields: TypeAlias = Sequence[tuple[str, LogicalType]]
"""Names and types."""

_NAMESPACE, _RECORD = "org.apache.flink.avro.generated", "record"

_TYPES: dict[str, Any] = {
    "BOOLEAN": "boolean",
    "TINYINT": "int",
    "SMALLINT": "int",
    "INT": "int",
    "BIGINT": "long",
    "FLOAT": "float",
    "DOUBLE": "double",
    "CHAR": "string",
    "VARCHAR": "string",
    "BINARY": "bytes",
    "VARBINARY": "bytes",
    "DATE": {"type": "int", "logicalType": "date"},
    "TIME": {"type": "int", "logicalType": "time-millis"},
    "TIMESTAMP": {"type": "long", "logicalType": "timestamp-millis"},
}


def schema_of(fields: Fields) -> dict[str, Any]:
    """The schema of a record with these fields."""
    return {**_record(fields, _RECORD), "namespace": _NAMESPACE}


def schema_of_changes(fields: Fields) -> list[Any]:
    """The schema of Debezium's changes of such records."""
    rows = [("before", _record(fields, f"{_RECORD}_before")), ("after", _record(fields, f"{_RECORD}_after"))]
    members = [_field(name, ["null", schema]) for name, schema in (*rows, ("op", "string"))]
    return ["null", {"type": "record", "name": _RECORD, "namespace": _NAMESPACE, "fields": members}]


def is_like(schema: str, derived: Any) -> bool:
    """Whether a schema differs from a derived one in the names of records and in what does not count for values.

    Raises :class:`ValueError` where it is no JSON.
    """
    return bool(_bare(json.loads(schema), {}) == _bare(derived, {}))


def _record(fields: Fields, name: str) -> dict[str, Any]:
    members = [_field(field, _schema(t, f"{name}_{field}")) for field, t in fields]
    return {"type": "record", "name": name, "fields": members}


def _field(name: str, schema: Any) -> dict[str, Any]:
    return {"name": name, "type": schema} | ({"default": None} if isinstance(schema, list) else {})


def _schema(t: LogicalType, name: str) -> Any:
    match t.root:
        case "ROW":
            schema: Any = _record([(field.name, field.type) for field in t.fields], name)
        case "ARRAY":
            schema = {"type": "array", "items": _schema(t.element, name)}
        case "MAP":
            schema = {"type": "map", "values": _schema(t.children[1], name)}
        case "MULTISET":
            schema = {"type": "map", "values": "int"}
        case "DECIMAL":
            schema = {"type": "bytes", "logicalType": "decimal", "precision": t.precision or 10, "scale": t.scale or 0}
        case root:
            schema = _TYPES[root]
    return ["null", schema] if t.nullable else schema


def _bare(schema: Any, named: dict[str, Any]) -> Any:
    """A schema without what does not count for values; ``named`` are the records that it has defined."""
    if isinstance(schema, str):
        return named.get(schema.rpartition(".")[2], schema)
    if isinstance(schema, list):
        return [_bare(branch, named) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "record":
        bare = [(field.get("name"), _bare(field.get("type"), named)) for field in schema.get("fields", ())]
        named[str(schema.get("name")).rpartition(".")[2]] = bare
        return bare
    counts = {key: _bare(schema[key], named) for key in _COUNTING if key in schema}
    return counts["type"] if counts.keys() == {"type"} else counts


_COUNTING = ("type", "items", "values", "logicalType", "precision", "scale")

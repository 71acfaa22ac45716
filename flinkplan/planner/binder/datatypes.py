"""From a data type as written to a logical type."""

from __future__ import annotations

from ...plan.record import Json
from ...plan.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    STRING_LENGTH,
    TINYINT,
    LogicalType,
    RowField,
    array,
    decimal,
    map_,
    multiset,
    sized,
    timestamp,
    timestamp_ltz,
)
from ..rex.builder import interval_type
from ..sql import ast
from .errors import BindError, unsupported

_SIMPLE = {
    "BOOLEAN": BOOLEAN,
    "TINYINT": TINYINT,
    "SMALLINT": SMALLINT,
    "INT": INT,
    "BIGINT": BIGINT,
    "FLOAT": FLOAT,
    "REAL": FLOAT,
    "DOUBLE": DOUBLE,
    "DATE": DATE,
    "STRING": STRING,
    "BYTES": BYTES,
    "VARIANT": LogicalType("VARIANT"),
    "BITMAP": LogicalType("BITMAP"),
    "NULL": LogicalType("NULL"),
}

_LENGTHS = {"CHAR": 1, "BINARY": 1, "VARCHAR": STRING_LENGTH, "VARBINARY": STRING_LENGTH}
"""The default length of types that are written without one."""


def resolve_type(node: ast.DataType) -> LogicalType:
    """The logical type.  Raises :class:`BindError` for an impossible precision or an unknown name."""
    return _resolve(node).with_nullability(node.nullable)


def _resolve(node: ast.DataType) -> LogicalType:
    name = node.name
    if node.user_type is not None:
        raise unsupported(f"the user-defined type '{name}'", node.span)
    if name in _SIMPLE:
        return _SIMPLE[name]
    if name in _LENGTHS:
        return sized(name, _number(node, _LENGTHS[name], 1, STRING_LENGTH, "length"))
    if name == "DECIMAL":
        precision = _number(node, 10, 1, 38, "precision")
        scale = int(node.args[1]) if len(node.args) > 1 else 0
        if scale > precision:
            raise BindError(f"the scale {scale} is more than the precision {precision}", node.span)
        return decimal(precision, scale)
    if name == "TIME":
        return LogicalType("TIME", precision=_number(node, 0, 0, 9, "precision"))
    if name == "TIMESTAMP":
        return timestamp(_number(node, 6, 0, 9, "precision"))
    if name == "TIMESTAMP_LTZ":
        return timestamp_ltz(_number(node, 6, 0, 9, "precision"))
    if name == "INTERVAL" and node.interval is not None:
        q = node.interval
        return interval_type(q.unit, q.end_unit, q.precision, q.fraction)
    if name == "ARRAY":
        return array(resolve_type(node.elements[0]))
    if name == "MULTISET":
        return multiset(resolve_type(node.elements[0]))
    if name == "MAP":
        key, value = map(resolve_type, node.elements)
        return map_(key, value)
    fields = tuple(RowField(f.name.name, resolve_type(f.type), f.comment) for f in node.fields)
    if name == "ROW":
        return LogicalType("ROW", fields=fields)
    if name == "STRUCTURED":
        return LogicalType("STRUCTURED", fields=fields, raw=Json({"class": node.args[0]}))
    if name == "RAW":
        return LogicalType("RAW", raw=Json({"class": node.args[0], "snapshot": node.args[1]}))
    raise unsupported(f"the type {name}", node.span)


def _number(node: ast.DataType, default: int, low: int, high: int, parameter: str) -> int:
    value = int(node.args[0]) if node.args else default
    if not low <= value <= high:
        raise BindError(f"the {parameter} of {node.name} is between {low} and {high}, not {value}", node.span)
    return value

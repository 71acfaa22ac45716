"""Which explicit and implicit casts Flink allows."""

from __future__ import annotations

from ...plan.functions.typing import is_interval
from ...plan.types import BINARY_STRING, CHARACTER, DATETIME, INTEGERS, NUMERIC, TIMESTAMPS, LogicalType


def can_cast(source: LogicalType, target: LogicalType) -> bool:
    """Whether Flink compiles a CAST; :func:`cast_without_rule` tells those that never run."""
    a, b = source.root, target.root
    return (a in CHARACTER and b == "ARRAY") or (a in BINARY_STRING and b in DATETIME) or _converts(source, target)


def _converts(source: LogicalType, target: LogicalType) -> bool:
    """Whether CAST is allowed, also between elements and fields."""
    a, b = source.root, target.root
    if a == "NULL" or source.same_as(target):
        return True
    if b in CHARACTER:
        return a != "VARIANT"
    if a in CHARACTER:
        return b in (*NUMERIC, "BOOLEAN", *BINARY_STRING, *DATETIME)
    if a in NUMERIC:
        return b in (*NUMERIC, "BOOLEAN", *TIMESTAMPS) or (a in INTEGERS and is_interval(target) and "_TO_" not in b)
    if a == "BOOLEAN":
        return b in NUMERIC
    if a in BINARY_STRING:
        return b in (*BINARY_STRING, "RAW")
    if a == "BITMAP":
        return b in BINARY_STRING
    if a in DATETIME:
        return _can_cast_time(a, b)
    if is_interval(source):
        return is_interval(target)
    if a == b and a in ("ARRAY", "MAP", "MULTISET"):
        return all(_converts(x, y) for x, y in zip(source.children, target.children, strict=True))
    if {a, b} <= {"ROW", "STRUCTURED"}:
        same_size = len(source.fields) == len(target.fields)
        return same_size and all(_converts(x.type, y.type) for x, y in zip(source.fields, target.fields, strict=True))
    return a == b


def _can_cast_time(a: str, b: str) -> bool:
    if a == "DATE":
        return b in ("DATE", *TIMESTAMPS)
    if a == "TIME":
        return b in ("TIME", *TIMESTAMPS)
    return b in (*DATETIME, *NUMERIC)


def can_cast_implicitly(source: LogicalType, target: LogicalType) -> bool:
    """Whether a value can be written to a sink's column of the type without an explicit CAST.

    Source: Flink's ``LogicalTypeCasts.supportsImplicitCast``.
    """
    if source.nullable and not target.nullable:
        return False
    a, b = source.root, target.root
    if a == "NULL" or source.with_nullability(True) == target.with_nullability(True):
        return True
    if a in NUMERIC and b in NUMERIC:
        return a in _NUMERIC_INTO[b]
    if a in CHARACTER and b in CHARACTER:
        return b == "VARCHAR" or a == "CHAR"
    if a in BINARY_STRING and b in BINARY_STRING:
        return b == "VARBINARY" or a == "BINARY"
    if a in DATETIME and b in DATETIME:
        return a == b or a == "TIMESTAMP" or (a in TIMESTAMPS and b in TIMESTAMPS)
    if is_interval(source) and is_interval(target):
        return True
    if a == b and a in ("ARRAY", "MAP", "MULTISET"):
        return all(can_cast_implicitly(x, y) for x, y in zip(source.children, target.children, strict=True))
    if {a, b} <= {"ROW", "STRUCTURED"} and len(source.fields) == len(target.fields):
        return all(can_cast_implicitly(x.type, y.type) for x, y in zip(source.fields, target.fields, strict=True))
    return False


_NUMERIC_INTO: dict[str, tuple[str, ...]] = {
    "TINYINT": ("TINYINT",),
    "SMALLINT": ("TINYINT", "SMALLINT"),
    "INT": ("TINYINT", "SMALLINT", "INT"),
    "BIGINT": INTEGERS,
    "DECIMAL": NUMERIC,
    "FLOAT": (*INTEGERS, "DECIMAL", "FLOAT"),
    "DOUBLE": NUMERIC,
}
"""For each numeric type the types that can be widened to it."""


def avoids_cast(source: LogicalType, target: LogicalType) -> bool:
    """Whether a value of ``source`` already is one of ``target``: nullability, or a longer VARCHAR.

    Source: Flink's ``LogicalTypeCasts.supportsAvoidingCast``.
    """
    if source.nullable and not target.nullable:
        return False
    if source.regular().with_nullability(True) == target.regular().with_nullability(True):
        return True
    a, b = source.root, target.root
    if a in CHARACTER and b in CHARACTER:
        return b == "VARCHAR" and (source.length or 0) <= (target.length or 0)
    if a in BINARY_STRING and b in BINARY_STRING:
        return b == "VARBINARY" and (source.length or 0) <= (target.length or 0)
    if a != b:
        return False
    if source.children:
        return all(avoids_cast(x, y) for x, y in zip(source.children, target.children, strict=True))
    if source.fields and len(source.fields) == len(target.fields):
        return all(avoids_cast(x.type, y.type) for x, y in zip(source.fields, target.fields, strict=True))
    return False

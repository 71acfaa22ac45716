"""What the types and tables of the neutral form are in Arrow.

=========================================  ====================================================================
Flink                                      Arrow
=========================================  ====================================================================
BOOLEAN, TINYINT … BIGINT, FLOAT, DOUBLE   ``bool``, ``int8`` … ``int64``, ``float32``, ``float64``
DECIMAL(p, s)                              ``decimal128(p, s)``
CHAR, VARCHAR                              ``string``
BINARY, VARBINARY, BITMAP, VARIANT         ``binary``
DATE                                       ``date32``
TIME                                       ``time32[ms]``
TIMESTAMP(p)                               ``timestamp[ms]`` up to p = 3, ``timestamp[us]`` up to 6, else
                                           a struct of ``millis`` (``int64``) and ``nanos`` (``int32``) within it
TIMESTAMP_LTZ(p)                           the same in UTC
INTERVAL                                   ``int32`` (months) or ``int64`` (milliseconds)
ARRAY                                      ``list``
MAP, MULTISET                              ``list`` of structs of ``key`` and ``value``: keys may be NULL
ROW                                        ``struct``
=========================================  ====================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..plan.types import LogicalType
from ..plan.types.arrow import ARROW_NAMES
from ..plan.types.parser import parse_type
from .form import Column, Kind, StateError, StateTable

if TYPE_CHECKING:
    from pyarrow import DataType, Schema

_SIMPLE = {**ARROW_NAMES, "BINARY": "binary", "BITMAP": "binary", "VARIANT": "binary"}
_MILLIS, _MICROS = 3, 6
"""The most digits of a second that milliseconds and microseconds have."""


def arrow() -> Any:
    """The module ``pyarrow``.  Raises :class:`StateError` where it is not installed."""
    try:
        import pyarrow
    except ImportError:
        raise StateError("tables of state need pyarrow", hint="pip install 'flinkplan[state]'") from None
    return pyarrow


def arrow_type(t: LogicalType) -> DataType:
    """The type of a column in Arrow.  Raises :class:`StateError` for a type that has none."""
    pa = arrow()
    if t.root in _SIMPLE:
        return getattr(pa, _SIMPLE[t.root])()
    match t.root:
        case "DECIMAL":
            return pa.decimal128(t.precision or 10, t.scale or 0)
        case "TIME":
            return pa.time32("ms")
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return _timestamp(t)
        case "ARRAY":
            return pa.list_(arrow_type(t.element))
        case "MAP":
            key, value = t.children
            return pa.list_(pa.struct([("key", arrow_type(key)), ("value", arrow_type(value))]))
        case "MULTISET":
            return pa.list_(pa.struct([("key", arrow_type(t.element)), ("value", pa.int32())]))
        case "ROW" | "STRUCTURED" if t.fields or t.root == "ROW":
            return pa.struct([(f.name, arrow_type(f.type)) for f in t.fields])
        case root if root.startswith("INTERVAL"):
            return pa.int32() if "YEAR" in root or "MONTH" in root else pa.int64()
    raise StateError(f"there is no column of the type {t} in a table of state")


def _timestamp(t: LogicalType) -> DataType:
    pa = arrow()
    precision = 6 if t.precision is None else t.precision
    if precision > _MICROS:
        return pa.struct([("millis", pa.int64()), ("nanos", pa.int32())])
    zone = "UTC" if t.root == "TIMESTAMP_LTZ" else None
    return pa.timestamp("ms" if precision <= _MILLIS else "us", zone)


@lru_cache(1024)
def _type_of_text(text: str) -> DataType:
    return arrow_type(parse_type(text))


def column_type(column: Column) -> DataType:
    """The type of a column in Arrow."""
    return arrow().binary() if column.serializer else _type_of_text(column.type)


def struct_type(columns: Sequence[Column]) -> DataType:
    """The type of a key, namespace, map key or value of these fields."""
    pa = arrow()
    return pa.struct([pa.field(c.name, column_type(c)) for c in columns])


def table_schema(table: StateTable) -> Schema:
    """The schema of the rows of a table."""
    pa = arrow()
    time = pa.timestamp("ms", "UTC")
    has_positions = table.kind in (Kind.LIST, Kind.OPERATOR_LIST, Kind.OPERATOR_UNION)
    fields = [
        ("subtask", None if table.kind.is_keyed else pa.int32()),
        ("key", struct_type(table.key) if table.kind.is_keyed else None),
        ("namespace", struct_type(table.namespace) if table.namespace else None),
        ("map_key", struct_type(table.map_key) if table.map_key else None),
        ("position", pa.int64() if has_positions else None),
        ("value", struct_type(table.value)),
        ("accessed", time if table.time == "accessed" else None),
        ("expires", time if table.time == "expires" else None),
    ]
    return pa.schema([pa.field(name, t) for name, t in fields if t is not None])

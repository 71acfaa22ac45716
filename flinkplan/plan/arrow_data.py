"""Rows within a plan: the option of PyFlink's source of data frames, which holds messages of Arrow.

They are an array of byte arrays in Java's serialization, in base64.  Sources: ``ArrowTableSourceFactory`` and
``ArrowUtils`` of flink-python, and the "Object Serialization Stream Protocol" of Java.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .errors import PlanError, UnsupportedError
from .record import Json, replace
from .specs import Column
from .types import LogicalType
from .types.arrow import ARROW_NAMES

if TYPE_CHECKING:
    import pyarrow as pa

NAME, DATA = "python-arrow-source", "data"
"""The connector and its option."""

_STREAM = bytes.fromhex("aced0005")
_ARRAYS = bytes.fromhex("757200035b5b424bfd19156767db37020000") + b"xp"
"""An array of the class ``byte[][]``."""
_FIRST = bytes.fromhex("757200025b42acf317f8060854e0020000") + b"xp"
_NEXT = bytes.fromhex("7571007e0002")
"""An array of the class ``byte[]``, which the first of them describes."""


def encoded(messages: Sequence[bytes]) -> str:
    """The value of the option for these messages."""
    parts = [_STREAM, _ARRAYS, struct.pack(">i", len(messages))]
    for i, message in enumerate(messages):
        parts += [_NEXT if i else _FIRST, struct.pack(">i", len(message)), message]
    return base64.b64encode(b"".join(parts)).decode("ascii")


def decoded(data: str) -> list[bytes]:
    """The messages in the value of the option.  Raises :class:`PlanError` for another value."""
    try:
        stream = base64.b64decode(data, validate=True)
        head = _STREAM + _ARRAYS
        if not stream.startswith(head):
            raise ValueError("no array of byte arrays")
        (count,) = struct.unpack_from(">i", stream, len(head))
        messages, at = [], len(head) + 4
        for i in range(count):
            start = _NEXT if i else _FIRST
            if not stream.startswith(start, at):
                raise ValueError("no byte array")
            (length,) = struct.unpack_from(">i", stream, at + len(start))
            at += len(start) + 4
            if length < 0 or at + length > len(stream):
                raise ValueError("it ends too early")
            messages.append(stream[at : at + length])
            at += length
        return messages
    except (ValueError, struct.error) as e:
        raise PlanError(f"the option '{DATA}' of a data frame cannot be read: {e}") from None


UNITS = ("s", "ms", "ms", "ms", "us", "us", "us", "ns", "ns", "ns")
"""The unit of times and timestamps, by their precision."""


def arrow_type(t: LogicalType) -> pa.DataType:
    """The type that a column has in the messages.  Source: ``pyflink.table.types.to_arrow_type``.

    Raises :class:`UnsupportedError` for a type that none of them has.
    """
    import pyarrow as pa

    if t.root in ARROW_NAMES:
        return getattr(pa, ARROW_NAMES[t.root])()
    match t.root:
        case "BINARY":
            return pa.binary(t.length or 1)
        case "DECIMAL":
            return pa.decimal128(t.precision or 10, t.scale or 0)
        case "TIME":
            unit = UNITS[t.precision or 0]
            return pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return pa.timestamp(UNITS[t.precision if t.precision is not None else 6])
        case "ARRAY":
            return pa.list_(arrow_type(t.element))
        case "MAP":
            return pa.map_(*map(arrow_type, t.children))
        case "ROW":
            return pa.struct([(f.name, arrow_type(f.type)) for f in t.fields])
    raise UnsupportedError(f"a data frame has no column of the type {t}")


_PACKAGE = "org.apache.flink.table.data."
_CLASSES: Mapping[str, str] = {
    "CHAR": f"{_PACKAGE}StringData",
    "VARCHAR": f"{_PACKAGE}StringData",
    "DECIMAL": f"{_PACKAGE}DecimalData",
    "DATE": "java.lang.Integer",
    "TIME": "java.lang.Integer",
    "TIMESTAMP": f"{_PACKAGE}TimestampData",
    "TIMESTAMP_LTZ": f"{_PACKAGE}TimestampData",
    "ARRAY": f"{_PACKAGE}ArrayData",
    "MAP": f"{_PACKAGE}MapData",
    "ROW": f"{_PACKAGE}RowData",
}


def internal(column: Column) -> Column:
    """The column with the class of Flink's own data structures, as a plan has it for this source."""
    t = column.data_type
    if t is None or t.root not in _CLASSES:
        return column
    written = {"logicalType": t.text, "conversionClass": _CLASSES[t.root]}
    return replace(column, data_type=replace(t, raw=Json(written)))

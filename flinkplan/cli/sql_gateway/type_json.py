"""The types and values of results as JSON.

Source: Flink's ``LogicalTypeJsonSerializer`` of the gateway and ``RowDataToJsonConverters``.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from msgspec import Raw
from msgspec.json import encode

from ...plan.errors import FlinkplanError
from ...plan.types import BINARY_STRING, CHARACTER, INTEGERS, WITH_LENGTH, LogicalType, RowField

_ROOTS = {
    "INT": "INTEGER",
    "TIME": "TIME_WITHOUT_TIME_ZONE",
    "TIMESTAMP": "TIMESTAMP_WITHOUT_TIME_ZONE",
    "TIMESTAMP_LTZ": "TIMESTAMP_WITH_LOCAL_TIME_ZONE",
    "TIMESTAMP_TZ": "TIMESTAMP_WITH_TIME_ZONE",
}
_YEAR_MONTH = ("YEAR", "YEAR_TO_MONTH", "MONTH")


def type_to_json(t: LogicalType) -> dict[str, Any]:
    """A logical type as the columns of a result have it."""
    if t.root == "NULL":
        return {"type": "NULL"}
    resolution = t.root.removeprefix("INTERVAL_")
    is_interval = resolution != t.root
    root = _ROOTS.get(t.root, t.root)
    if is_interval:
        root = "INTERVAL_YEAR_MONTH" if resolution in _YEAR_MONTH else "INTERVAL_DAY_TIME"
    out: dict[str, Any] = {"type": root, "nullable": t.nullable}
    if t.root in WITH_LENGTH:
        out["length"] = t.length
    elif t.root == "DECIMAL":
        out |= {"precision": t.precision, "scale": t.scale}
    elif t.root.startswith("TIME"):
        out["precision"] = t.precision
    elif is_interval:
        out["precision"] = 2 if t.precision is None else t.precision
        if root == "INTERVAL_DAY_TIME":
            out["fractionalPrecision"] = 6 if t.scale is None else t.scale
        out["resolution"] = resolution
    elif t.root in ("ARRAY", "MULTISET"):
        out["elementType"] = type_to_json(t.element)
    elif t.root == "MAP":
        key, value = t.children
        out |= {"keyType": type_to_json(key), "valueType": type_to_json(value)}
    elif t.fields:
        out["type"] = "ROW"
        out["fields"] = [
            {"name": f.name, "fieldType": type_to_json(f.type)}
            | ({} if f.description is None else {"description": f.description})
            for f in t.fields
        ]
    return out


_TYPES = {name: root for root, name in _ROOTS.items()}


def type_from_json(json: Mapping[str, Any]) -> LogicalType:
    """The type that :func:`type_to_json` has written.  Raises :class:`FlinkplanError` for anything else."""
    try:
        name, nullable = json["type"], json.get("nullable", True)
        root = f"INTERVAL_{json['resolution']}" if name.startswith("INTERVAL_") else _TYPES.get(name, name)
        children = [json[key] for key in ("elementType", "keyType", "valueType") if key in json]
        return LogicalType(
            root,
            nullable,
            length=json.get("length"),
            precision=json.get("precision"),
            scale=json.get("fractionalPrecision" if name.startswith("INTERVAL_") else "scale"),
            children=tuple(map(type_from_json, children)),
            fields=tuple(
                RowField(field["name"], type_from_json(field["fieldType"]), field.get("description"))
                for field in json.get("fields", ())
            ),
        )
    except (AttributeError, KeyError, TypeError):
        raise FlinkplanError(f"the gateway answers with a type that is not known: {json}") from None


def text_converters(types: Sequence[LogicalType]) -> list[Callable[[str, Any], Any]]:
    """For each column what makes JSON of the text and the Python value of a cell that is not NULL."""
    return [_from_text(t) for t in types]


def _from_text(t: LogicalType) -> Callable[[str, Any], Any]:
    root = t.root
    if root in CHARACTER or root in ("DATE", "TIME"):
        return lambda text, value: text
    if root == "BOOLEAN":
        return lambda text, value: text == "TRUE"
    if root in INTEGERS:
        return lambda text, value: int(text)
    if root in ("DECIMAL", "FLOAT", "DOUBLE"):
        return lambda text, value: _number(text)
    if root == "TIMESTAMP":
        return lambda text, value: _iso(text)
    if root in BINARY_STRING:
        return lambda text, value: base64.b64encode(bytes.fromhex(text[2:-1])).decode()
    convert = _from_value(t)
    return lambda text, value: convert(value)


def _number(text: str) -> Any:
    return Raw(text.encode()) if text.lstrip("-")[:1].isdigit() else text  # with the digits that Java writes


def _iso(text: str) -> str:
    day, _, clock = text.partition(" ")
    return f"{day}T{_without_zeros(clock)}"


def _without_zeros(clock: str) -> str:
    return clock.rstrip("0").rstrip(".") if "." in clock else clock


def _from_value(t: LogicalType) -> Callable[[Any], Any]:
    """What makes JSON of a Python value, also of one inside a row or a collection."""
    if t.root in ("ARRAY",):
        element = _optional(t.element)
        return lambda v: [element(e) for e in v]
    if t.root in ("MAP", "MULTISET"):
        key = _optional(t.children[0])
        value = _optional(t.children[1]) if t.root == "MAP" else _scalar
        return lambda v: {_key(key(k)): value(e) for k, e in v.items()}
    if t.fields:
        fields = [(f.name, _optional(f.type)) for f in t.fields]
        return lambda v: {name: convert(e) for (name, convert), e in zip(fields, v, strict=True)}
    if t.root == "FLOAT":
        return lambda v: _number(_shortest(v))
    return _scalar


def _optional(t: LogicalType) -> Callable[[Any], Any]:
    convert = _from_value(t)
    return lambda v: None if v is None else convert(v)


def _key(key: Any) -> str:
    """The name of a field for the key of a map; that of NULL is ``null``."""
    return "null" if key is None else key if isinstance(key, str) else encode(key).decode()


def _scalar(value: Any) -> Any:
    if isinstance(value, datetime):
        utc = value.tzinfo is not None
        clock = value.astimezone(UTC) if utc else value
        return clock.strftime("%Y-%m-%dT") + _without_zeros(clock.strftime("%H:%M:%S.%f")) + "Z" * utc
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value // timedelta(milliseconds=1)
    if isinstance(value, Decimal):
        return _number(str(value))
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    return value


def _shortest(value: float) -> str:
    """The fewest digits that name a number of 32 bits."""
    for digits in range(1, 9):
        text = f"{value:.{digits}g}"
        if struct.pack("f", float(text)) == struct.pack("f", value):
            return repr(float(text))
    return repr(value)

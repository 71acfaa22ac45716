"""Values of rows: from YAML, CSV, JSON and Parquet to JSON for sources, and compared with those of a job."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from ..plan.types import LogicalType
from ..planner.spec import nodes as yaml

_HEX = re.compile(r"[xX]'([0-9a-fA-F]*)'")
_TEXTS = ("CHAR", "VARCHAR")
_BYTES = ("BINARY", "VARBINARY")
_WHOLE = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_FLOATS = ("FLOAT", "DOUBLE")
_TIMES = ("TIMESTAMP", "TIMESTAMP_LTZ")


class ValueFault(Exception):
    """A value that its type does not have: what is wrong."""


def plain(value: Any) -> Any:
    """A value without its place: scalars as their texts with what they mean, lists, and mappings."""
    if isinstance(value, yaml.Sequence):
        return [plain(item) for item in value.items]
    if isinstance(value, yaml.Mapping):
        return {key.text: plain(item) for key, item in value.entries}
    return value


def json_value(value: Any, t: LogicalType) -> Any:
    """A value as the JSON format of Flink reads it for a type.  Raises :class:`ValueFault` where it cannot be one."""
    value = plain(value)
    data = value.data if isinstance(value, yaml.Scalar) else value
    if data is None or (isinstance(data, float) and math.isnan(data) and t.root not in _FLOATS):
        return None
    if t.root == "ARRAY":
        return [json_value(item, t.element) for item in _list(data, t)]
    if t.root in ("MAP", "MULTISET"):
        item = t.children[1] if t.root == "MAP" else None
        return {str(_text(k)): (v if item is None else json_value(v, item)) for k, v in _mapping(data, t).items()}
    if t.root in ("ROW", "STRUCTURED"):
        names = [field.name for field in t.fields]
        given = data if isinstance(data, Mapping) else dict(zip(names, _list(data, t), strict=False))
        if unknown := [name for name in given if name not in names]:
            raise ValueFault(f"{t} has no field '{unknown[0]}'")
        return {field.name: json_value(given.get(field.name), field.type) for field in t.fields}
    if isinstance(data, list | Mapping):
        raise ValueFault(f"this is {'a list' if isinstance(data, list) else 'a mapping'}, and not a value of {t}")
    return _scalar(data, _text(value), t)


def _scalar(data: Any, text: str, t: LogicalType) -> Any:
    if t.root in _TEXTS:
        return text
    if t.root == "BOOLEAN":
        if not isinstance(data, bool) and text.lower() not in ("true", "false"):
            raise ValueFault(f"'{text}' is not true or false")
        return text.lower() == "true"
    if t.root in _WHOLE:
        try:
            return int(text)
        except ValueError:
            raise ValueFault(f"'{text}' is not a whole number") from None
    if t.root in _FLOATS:
        return _number(text)
    if t.root == "DECIMAL":
        return str(_decimal(text))
    if t.root in _BYTES:
        match = _HEX.fullmatch(text)
        content = bytes.fromhex(match[1]) if match else data if isinstance(data, bytes) else text.encode()
        return base64.b64encode(content).decode()
    if t.root in _TIMES:
        moment = _moment(data, text)
        if t.root == "TIMESTAMP_LTZ":
            if moment.tzinfo is None:
                raise ValueFault(f"'{text}' needs a time zone for {t}: '{text}Z'")
            return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(' ')}Z"
        return moment.isoformat(" ")
    return text


def _text(value: Any) -> str:
    if isinstance(value, yaml.Scalar):
        return value.text
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, date | time) and not isinstance(value, datetime) else str(value)


def _list(data: Any, t: LogicalType) -> Sequence[Any]:
    if not isinstance(data, list | tuple):
        raise ValueFault(f"{t} is written as a list")
    return data


def _mapping(data: Any, t: LogicalType) -> Mapping[Any, Any]:
    if isinstance(data, list) and all(isinstance(each, tuple) for each in data):
        return dict(data)  # as Parquet has maps
    if not isinstance(data, Mapping):
        raise ValueFault(f"{t} is written as a mapping")
    return data


def _number(text: str) -> Any:
    try:
        number = float(text)
    except ValueError:
        raise ValueFault(f"'{text}' is not a number") from None
    return number if math.isfinite(number) else text


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueFault(f"'{text}' is not a number") from None


def _moment(data: Any, text: str) -> datetime:
    if isinstance(data, datetime):
        return data
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise ValueFault(f"'{text}' is not a time such as 2024-01-31 12:00:00") from None


# ---------------------------------------------------------------- comparing


def is_equal(expected: Any, actual: Any, tolerance: float) -> bool:
    """Whether a value of a job is the one that is written in a test."""
    expected = plain(expected)
    data = expected.data if isinstance(expected, yaml.Scalar) else expected
    if actual is None or data is None:
        return actual is None and data is None
    if isinstance(actual, bool):
        return _text(expected).lower() == str(actual).lower()
    if isinstance(actual, float):
        return _close(_text(expected), actual, tolerance)
    if isinstance(actual, int | Decimal):
        return _as_decimal(_text(expected)) == Decimal(actual)
    if isinstance(actual, list):
        return _same_items(data, actual, tolerance)
    if isinstance(actual, tuple):
        values = list(data.values()) if isinstance(data, Mapping) else data
        return _same_items(values, list(actual), tolerance)
    if isinstance(actual, dict):
        values_by_text = {_shown_text(key): value for key, value in actual.items()}
        if not isinstance(data, Mapping) or {str(key) for key in data} != set(values_by_text):
            return False
        return all(is_equal(value, values_by_text[str(key)], tolerance) for key, value in data.items())
    if isinstance(actual, datetime):
        return _same_moment(data, _text(expected), actual)
    if isinstance(actual, bytes | bytearray):
        return _text(expected).lower() == _shown_text(actual)
    return bool(_text(expected) == _shown_text(actual))


def _same_items(expected: Any, actual: list[Any], tolerance: float) -> bool:
    if not isinstance(expected, list) or len(expected) != len(actual):
        return False
    return all(is_equal(e, a, tolerance) for e, a in zip(expected, actual, strict=True))


def _close(text: str, actual: float, tolerance: float) -> bool:
    try:
        expected = float(text)
    except ValueError:
        return False
    if math.isnan(expected) or math.isinf(expected):
        return (math.isnan(expected) and math.isnan(actual)) or expected == actual
    return abs(expected - actual) <= tolerance or expected == actual


def _as_decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _same_moment(data: Any, text: str, actual: datetime) -> bool:
    try:
        expected = _moment(data, text)
    except ValueFault:
        return False
    if actual.tzinfo is not None and expected.tzinfo is None:
        expected = expected.replace(tzinfo=UTC)
    if actual.tzinfo is None and expected.tzinfo is not None:
        return False
    return bool(expected == actual)


def shown(value: Any) -> Any:
    """A value of a job as it is written in a test: what YAML has, else a text."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case bytes() | bytearray():
            return f"x'{value.hex()}'"
        case Decimal():
            return format(value, "f")
        case datetime():
            text = value.replace(tzinfo=None).isoformat(" ")
            return f"{text}Z" if value.tzinfo is not None else text
        case date() | time():
            return value.isoformat()
        case timedelta():
            return str(value)
        case list() | tuple():
            return [shown(item) for item in value]
        case dict():
            return {_shown_text(key): shown(item) for key, item in value.items()}
    return str(value)


def _shown_text(value: Any) -> str:
    text = shown(value)
    return text if isinstance(text, str) else str(text).lower() if isinstance(text, bool) else str(text)

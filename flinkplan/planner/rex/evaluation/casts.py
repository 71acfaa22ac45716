"""Casts of constants."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from ....plan.rex import Call, Literal
from ....plan.types import APPROXIMATE, CHARACTER, INTEGER_BITS, INTEGERS, LogicalType
from . import limits
from .numbers import double_text, fits_decimal, java_float, number, rounded_decimal, to_single
from .registry import UnknownValue, evaluator
from .time_texts import moment_text, read_moment, read_time
from .times import parse_moment

_EXACT = (*INTEGERS, "DECIMAL")
_NUMERIC = (*_EXACT, *APPROXIMATE)
_BINARY = ("BINARY", "VARBINARY")
_MOMENTS = ("DATE", "TIMESTAMP")
_TRUE, _FALSE = ("t", "true", "y", "yes", "1"), ("f", "false", "n", "no", "0")


class _Malformed(Exception):
    """A text is no value of the target type: CAST fails at run time, TRY_CAST gives NULL."""


@evaluator("CAST")
def cast(call: Call, operand: Literal) -> Any:
    """The value of a constant as another type.  Raises :class:`UnknownValue` where the value is not known exactly."""
    try:
        return _convert(operand, call.type)
    except _Malformed:
        raise UnknownValue from None


@evaluator("TRY_CAST")
def try_cast(call: Call, operand: Literal) -> Any:
    """As :func:`cast`, NULL for malformed text, and for a number that its type cannot hold."""
    try:
        value = _convert(operand, call.type)
        return None if call.type.root == "DECIMAL" and not fits_decimal(value, call.type) else value
    except _Malformed:
        return None


def _convert(operand: Literal, target: LogicalType) -> Any:
    source = operand.type
    if target.root in CHARACTER:
        return fit_text(to_text(operand), target)
    if source.root in CHARACTER and target.root == "VARBINARY":
        return base64.b64encode(operand.value.encode()[: target.length]).decode()
    if source.root in CHARACTER:
        reader = _READERS.get(target.root)
        if reader is None:
            raise UnknownValue
        return reader(operand.value.strip() if target.root in _NUMERIC else operand.value, target)
    if source.root in _NUMERIC and target.root in _NUMERIC:
        return _to_number(operand, target)
    if source.root in _NUMERIC and target.root == "BOOLEAN":
        return number(operand) != 0
    if source.root in _MOMENTS and target.root in _MOMENTS:
        return moment_text(parse_moment(operand.value), target)
    if source.root == "TIMESTAMP" and target.root == "TIME":
        return read_time(operand.value.partition(" ")[2] or "0", target)
    if source.root == target.root == "TIMESTAMP_LTZ":
        return moment_text(parse_moment(operand.value), target)
    if source.root == target.root or (source.root in _BINARY and target.root == "VARBINARY"):
        return operand.value
    raise UnknownValue


def _to_number(operand: Literal, target: LogicalType) -> Any:
    value = number(operand)
    if target.root in APPROXIMATE:
        if operand.type.root == "FLOAT" and target.root == "DOUBLE":
            return double_text(to_single(float(value)))
        return str(operand.value) if operand.type.root in APPROXIMATE else double_text(float(value))
    if target.root == "DECIMAL":
        return value
    if operand.type.root in APPROXIMATE:
        return _saturated(int(value), target)
    return int(value)


def _saturated(value: int, target: LogicalType) -> int:
    """As Java casts a double: to the nearest INT or BIGINT, of which smaller types take the low bits."""
    most = 1 << (63 if target.root == "BIGINT" else 31)
    return max(-most, min(value, most - 1))


def to_text(operand: Literal) -> str:
    """A value as text.  Raises :class:`UnknownValue` where the value is not known exactly."""
    value, root = operand.value, operand.type.root
    if root in CHARACTER or root in ("DATE", "TIME"):
        return str(value)
    if root == "BOOLEAN":
        return "TRUE" if value else "FALSE"
    if root == "DECIMAL":
        return format(rounded_decimal(value, operand.type), "f")
    if root in INTEGERS:
        return str(value)
    if root in APPROXIMATE:
        return java_float(float(value), single=root == "FLOAT")
    if root in _BINARY:
        try:
            return base64.b64decode(value).decode()
        except UnicodeDecodeError:
            raise UnknownValue from None
    if root == "TIMESTAMP":
        text, _, fraction = str(value).partition(".")
        precision = operand.type.precision or 0
        return f"{text}.{fraction.ljust(precision, '0')}" if precision else text
    if root.startswith("INTERVAL"):
        return _interval_text(int(value), "YEAR" in root or "MONTH" in root)
    raise UnknownValue


def _interval_text(amount: int, months: bool) -> str:
    """Months as ``+1-02``, milliseconds as ``+1 02:03:04.500``."""
    sign, count = "-" if amount < 0 else "+", abs(amount)
    if months:
        return f"{sign}{count // 12}-{count % 12:02d}"
    seconds, millis = divmod(count, 1000)
    days, seconds = divmod(seconds, 86_400)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{sign}{days} {clock}.{millis:03d}"


def fit_text(text: str, target: LogicalType) -> str:
    """A text cut, or filled up with blanks, to the length of a type."""
    limits.length(target.length or 0 if target.root == "CHAR" else 0)
    cut = text[: target.length]
    return cut.ljust(target.length or 0) if target.root == "CHAR" else cut


def _read_number(text: str, target: LogicalType) -> Any:
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
        raise _Malformed
    value = Decimal(text)
    if target.root == "DECIMAL":
        return value
    if target.root in APPROXIMATE:
        return double_text(float(value))
    if not re.fullmatch(r"[+-]?\d+", text):
        raise UnknownValue
    most = 1 << (INTEGER_BITS[target.root] - 1)
    if not -most <= int(text) < most:
        raise _Malformed
    return int(text)


def _read_boolean(text: str, target: LogicalType) -> bool:
    if text.lower() not in (*_TRUE, *_FALSE):
        raise _Malformed
    return text.lower() in _TRUE


def _read(reader: Callable[[str, LogicalType], str | None]) -> Callable[[str, LogicalType], str]:
    """A reader of times that raises :class:`_Malformed` for texts that denote none."""

    def read(text: str, target: LogicalType) -> str:
        value = reader(text, target)
        if value is None:
            raise _Malformed
        return value

    return read


_READERS: dict[str, Callable[[str, LogicalType], Any]] = {
    **dict.fromkeys(_NUMERIC, _read_number),
    "BOOLEAN": _read_boolean,
    "DATE": _read(read_moment),
    "TIMESTAMP": _read(read_moment),
    "TIME": _read(read_time),
}

"""Values that keep their spelling in the JSON that they were read from, so that they are written unchanged.

They compare as plain values.
"""

from __future__ import annotations

import re
from typing import Any


class Number(float):
    """A number that Java and Python spell differently, such as ``1.0E10``."""

    spelling: str

    @classmethod
    def read(cls, text: str) -> float:
        """Parse a number of JSON; the result is a plain float if Python spells it in the same way."""
        number = cls(text)
        number.spelling = text
        return float(text) if repr(float(text)) == text else number


def spelling(number: float) -> str:
    """The spelling of a number in JSON."""
    return number.spelling if isinstance(number, Number) else repr(number)


class IntegerInText(int):
    """An integer that the JSON has as text, as releases before 1.18 write integers that they treat as DECIMAL."""


class FloatInDigits(str):
    """The text of a floating-point number that the JSON has as a number, as in releases before 1.18."""

    number: float


class ContainsNull(str):
    """The ``nullAs`` of a search argument that the JSON has as ``containsNull``, as in releases before 1.18."""

    __slots__ = ()


_INTEGERS = {"TINYINT", "SMALLINT", "INT", "BIGINT"}
_FLOATS = {"FLOAT", "DOUBLE"}
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,18})")


def literal_value(value: Any, root: str) -> Any:
    """The value of a literal whose type has this root, in the form of releases since 1.18."""
    if isinstance(value, str) and root in _INTEGERS and _WHOLE.fullmatch(value) and value != "-0":
        return IntegerInText(value)
    if isinstance(value, float) and root in _FLOATS:
        text = FloatInDigits(spelling(value))
        text.number = value
        return text
    return value


def literal_json(value: Any) -> Any:
    """The value of a literal in the form in which the JSON had it."""
    if isinstance(value, FloatInDigits):
        return value.number
    return str(int(value)) if isinstance(value, IntegerInText) else value


def plain(value: Any) -> Any:
    """The value of a literal without its old spelling, as releases since 1.18 write it."""
    if isinstance(value, FloatInDigits):
        return str(value)
    return int(value) if isinstance(value, IntegerInText) else value

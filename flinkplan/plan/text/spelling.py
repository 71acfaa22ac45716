"""Values that remember how the JSON they were read from spells them, so that it is written as it was.

They compare as the values that they are.
"""

from __future__ import annotations

import re
from typing import Any


class Number(float):
    """A number that Java and Python spell in different ways, such as ``1.0E10``."""

    spelling: str

    @classmethod
    def read(cls, text: str) -> float:
        """The number that a text of JSON is; a plain one where Python spells it in the same way."""
        number = cls(text)
        number.spelling = text
        return float(text) if repr(float(text)) == text else number


def spelling(number: float) -> str:
    """How JSON spells a number."""
    return number.spelling if isinstance(number, Number) else repr(number)


class IntegerInText(int):
    """A whole number that stands as text, as releases before 1.18 write those that they compute with as DECIMAL."""


class FloatInDigits(str):
    """The text of a floating-point number that stands as a number, as in releases before 1.18."""

    number: float


class ContainsNull(str):
    """What a search yields for NULL where the JSON says it as ``containsNull``, as releases before 1.18 do."""

    __slots__ = ()


_INTEGERS = {"TINYINT", "SMALLINT", "INT", "BIGINT"}
_FLOATS = {"FLOAT", "DOUBLE"}
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,18})")


def literal_value(value: Any, root: str) -> Any:
    """A constant's value, of a type with this root, as all releases since 1.18 have it."""
    if isinstance(value, str) and root in _INTEGERS and _WHOLE.fullmatch(value) and value != "-0":
        return IntegerInText(value)
    if isinstance(value, float) and root in _FLOATS:
        text = FloatInDigits(spelling(value))
        text.number = value
        return text
    return value


def literal_json(value: Any) -> Any:
    """A constant's value as its JSON has it."""
    if isinstance(value, FloatInDigits):
        return value.number
    return str(int(value)) if isinstance(value, IntegerInText) else value


def plain(value: Any) -> Any:
    """A constant's value as releases since 1.18 spell it."""
    if isinstance(value, FloatInDigits):
        return str(value)
    return int(value) if isinstance(value, IntegerInText) else value

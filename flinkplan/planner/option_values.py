"""What the values of options can be: checks that raise :class:`FlinkplanError` with the reason."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import TypeAlias

from ..plan.durations import parse_duration
from ..plan.errors import FlinkplanError

Check: TypeAlias = Callable[[str], None]


def anything(value: str) -> None:
    """Every text will do."""


def boolean(value: str) -> None:
    """``true`` or ``false``, in any case."""
    if value.lower() not in ("true", "false"):
        raise FlinkplanError("it is true or false")


_OF_JAVA_ALONE = re.compile(r"(x-|IBM|windows-|CESU|COMPOUND_TEXT|JIS_)", re.IGNORECASE)


def charset(value: str) -> None:
    """The name of a charset; those that Python does not know are told by how Java begins them."""
    try:
        codecs.lookup(value)
    except LookupError:
        if not _OF_JAVA_ALONE.match(value):
            raise FlinkplanError("there is no such charset", hint="it is UTF-8, ISO-8859-1, UTF-16LE …") from None


def whole(value: str) -> None:
    """A whole number."""
    if not re.fullmatch(r"[+-]?\d+", value.strip()):
        raise FlinkplanError("it is a whole number")


def duration(value: str) -> None:
    """A duration such as ``1 d``."""
    parse_duration(value)


def one_of(*values: str) -> Check:
    """One of some words, in any case."""

    def check(value: str) -> None:
        if value.upper() not in values:
            raise FlinkplanError(f"it is {', '.join(values[:-1])} or {values[-1]}")

    return check


def exactly_one_of(*values: str) -> Check:
    """One of some words as they are written."""

    def check(value: str) -> None:
        if value not in values:
            raise FlinkplanError(f"it is {', '.join(values[:-1])} or {values[-1]}")

    return check


def character(value: str) -> None:
    """A single character."""
    if len(value) != 1:
        raise FlinkplanError("it is a single character")


def escaped_character(value: str) -> None:
    r"""A single character, perhaps written as an escape such as ``\t`` or ``\u0001``."""
    if not re.fullmatch(r"[^\\]|\\(u+[0-9A-Fa-f]{4}|[0-7]{1,3}|[^0-7u])|\\", value, re.DOTALL):
        raise FlinkplanError(r"it is a single character, or an escape such as \t")


def time_zone(value: str) -> None:
    """A time zone that Java knows."""
    from zoneinfo import ZoneInfo

    if value == "default" or re.fullmatch(r"(UTC|GMT)([+-]\d{1,2}(:\d\d)?)?", value):
        return
    try:
        ZoneInfo(value)
    except (ValueError, OSError, KeyError):
        raise FlinkplanError("it is a time zone such as America/Los_Angeles, GMT+03:00 or UTC") from None

"""Texts as dates, times of day and timestamps, as casts read them when a job runs (Flink's ``DateTimeUtils``)."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable
from datetime import date, datetime, timedelta

from ....plan.types import LogicalType
from .registry import UnknownValue

_DATE = re.compile(r"\s*([0-9]{1,9})\s*(?:-\s*([0-9]{1,9})\s*(?:-\s*([0-9]{1,9})\s*)?)?")
_TIME = re.compile(
    r"\s*0*([0-9]{1,2})\s*(?::\s*([0-9]{1,2})\s*(?::\s*([0-9]{1,2})\s*(?:\.([0-9]*)\s*)?)?)?",
)
_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?: ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:\.([0-9]{0,9}))?)?"
)


def moment_text(moment: datetime, t: LogicalType, below: int = 0) -> str:
    """A moment as a literal of a type holds it: a date, or a timestamp without trailing zeros.

    ``below``: the nanoseconds below its microsecond.
    """
    if t.root == "DATE":
        return moment.date().isoformat()
    return _with_fraction(moment.isoformat(sep=" ", timespec="seconds"), f"{moment.microsecond:06d}{below:03d}", t)


def read_moment(text: str, t: LogicalType) -> str | None:
    """The literal of type ``t``, a date or a timestamp, that a text denotes; ``None``: it denotes none.

    Raises :class:`UnknownValue` for texts whose value is not known exactly.
    """
    if t.root == "DATE":
        day = _read_date(text)
        return None if day is None else day.isoformat()
    moment = read_timestamp(text)
    if (t.precision or 0) > 6 and re.search(r"\.[0-9]{6}0*[1-9]", text):
        raise UnknownValue
    return None if moment is None else moment_text(moment, t)


def _read_date(text: str) -> date | None:
    """What stands before a blank; month and day may be left out."""
    space = text.find(" ")
    match = _DATE.fullmatch(text[:space] if space > 0 else text)
    if match is None:
        return None
    try:
        return date(*_numbers(match.groups("1")))
    except (ValueError, OverflowError):
        return None


def read_timestamp(text: str) -> datetime | None:
    """The timestamp of a text, to the microsecond; ``None``: it is none.

    As Java resolves fields that are smart: a day that its month has not is the month's last one, and 24:00:00 the
    next day.  Raises :class:`UnknownValue` for years that are written with a sign.
    """
    if text.startswith("+"):
        raise UnknownValue
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return None
    year, month, day, *clock = _numbers(match.groups("0")[:6])
    fraction = (match[7] or "").ljust(9, "0")
    is_midnight = clock == [24, 0, 0] and not int(fraction)
    try:
        moment = smart_moment(year, month, day, *([0, 0, 0] if is_midnight else clock))
    except ValueError:
        return None
    return moment + timedelta(days=is_midnight, microseconds=int(fraction[:6]))


def smart_moment(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0) -> datetime:
    """The moment of these fields; a day up to 31 that its month has not is the month's last one.

    Raises :class:`ValueError` for fields out of their ranges.
    """
    if day <= 31 and 1 <= month <= 12 and year >= 1:
        day = min(day, calendar.monthrange(year, month)[1])
    return datetime(year, month, day, hour, minute, second)


def read_time(text: str, t: LogicalType) -> str | None:
    """The literal of type ``t`` that a text denotes; ``None``: it denotes none."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    hour, minute, second = _numbers(match.groups("0")[:3])
    if hour > 23 or minute > 59 or second > 59:
        return None
    return _with_fraction(f"{hour:02d}:{minute:02d}:{second:02d}", (match[4] or "").ljust(3, "0")[:3], t)


def _with_fraction(text: str, digits: str, t: LogicalType) -> str:
    """A literal's text with the digits behind the point that its type has, without trailing zeros."""
    fraction = digits[: t.precision or 0].rstrip("0")
    return f"{text}.{fraction}" if fraction else text


def _numbers(texts: Iterable[str]) -> list[int]:
    return [int(text) for text in texts]

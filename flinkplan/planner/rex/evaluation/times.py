"""Constant calls of temporal functions, on dates and timestamps without time zone."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from ....plan.functions.arithmetic import CEIL
from ....plan.rex import Call, Literal
from ....plan.types import APPROXIMATE, CHARACTER, LogicalType
from ..expressions import is_call
from .numbers import number, round_whole
from .registry import UnknownValue, evaluator
from .time_texts import moment_text, read_moment, read_timestamp, smart_moment

_EPOCH = datetime(1970, 1, 1)
_PATTERN = {"yyyy": "year", "MM": "month", "dd": "day", "HH": "hour", "mm": "minute", "ss": "second"}
_PATTERN_PART = re.compile(r"([A-Za-z])\1*")
_FORMAT_PART = re.compile(r"'(?P<quoted>(?:[^']|'')*)'|(?P<letter>[A-Za-z])(?P=letter)*")
"""The same, or a text between quotes, in which two quotes are one; nothing between them is a quote."""
_TIMESTAMP = re.compile(r"(\d{4}-\d{1,2}-\d{1,2})(?:[ T](\d{1,2}:\d{1,2}:\d{1,2})(?:\.(\d{1,9}))?)?")


def parse_moment(text: str) -> datetime:
    """A date or a timestamp as SQL writes it.  Raises :class:`UnknownValue` for anything else."""
    match = _TIMESTAMP.fullmatch(text.strip())
    if match is None:
        raise UnknownValue
    try:
        moment = datetime.strptime(f"{match[1]} {match[2] or '0:0:0'}", "%Y-%m-%d %H:%M:%S")
    except ValueError:
        raise UnknownValue from None
    return moment + timedelta(microseconds=int((match[3] or "").ljust(6, "0")[:6] or 0))


def format_moment(moment: datetime, pattern: str) -> str:
    """A moment by a Java date pattern.  Raises :class:`UnknownValue` for other than the usual parts."""
    day, month = calendar.day_name[moment.weekday()], calendar.month_name[moment.month]
    numbers = {
        "M": moment.month,
        "d": moment.day,
        "H": moment.hour,
        "h": (moment.hour + 11) % 12 + 1,
        "m": moment.minute,
        "s": moment.second,
    }
    values = {
        **{letter * digits: f"{n:0{digits}d}" for letter, n in numbers.items() for digits in (1, 2)},
        **{"yyyy": f"{moment.year:04d}", "uuuu": f"{moment.year:04d}", "yy": f"{moment.year % 100:02d}"},
        **{"D": str(moment.timetuple().tm_yday), **dict.fromkeys("Qq", str((moment.month + 2) // 3))},
        **{"MMM": month[:3], "MMMM": month, "E": day[:3], "EEE": day[:3], "EEEE": day},
        "a": "AM" if moment.hour < 12 else "PM",
    }

    def part(match: re.Match[str]) -> str:
        if match["quoted"] is not None:
            return match["quoted"].replace("''", "'") or "'"
        if match[0][0] == "S":
            return f"{moment.microsecond:06d}000"[: len(match[0])].ljust(len(match[0]), "0")
        if match[0] not in values:
            raise UnknownValue
        return values[match[0]]

    if _FORMAT_PART.sub("", pattern).count("'"):
        raise UnknownValue
    return _FORMAT_PART.sub(part, pattern)


def _parse(text: str, pattern: str, moment: Callable[..., datetime] = smart_moment) -> datetime:
    """The moment that a text denotes by a Java date pattern of the usual parts, each with all its digits."""
    match_ = re.fullmatch(_expression(pattern), text)
    if match_ is None:
        raise UnknownValue
    parts: dict[str, Any] = {k: int(v) for k, v in match_.groupdict().items() if k != "fraction"}
    fraction = int(match_.groupdict().get("fraction", "")[:6].ljust(6, "0"))
    try:
        return moment(**{"year": 1970, "month": 1, "day": 1, **parts}).replace(microsecond=fraction)
    except ValueError:
        raise UnknownValue from None


def _below_micros(text: str, pattern: str) -> int:
    """The nanoseconds (0 to 999) below the microsecond of what :func:`_parse` reads."""
    match_ = re.fullmatch(_expression(pattern), text)
    fraction = match_.groupdict().get("fraction") if match_ else None
    return int((fraction or "")[6:9].ljust(3, "0"))


def _expression(pattern: str) -> str:
    """The regular expression of a date pattern."""
    if "'" in pattern:
        raise UnknownValue
    expression, end = "", 0
    for match in _PATTERN_PART.finditer(pattern):
        name = "fraction" if match[1] == "S" else _PATTERN.get(match[0])
        if name is None or f"<{name}>" in expression:
            raise UnknownValue
        expression += re.escape(pattern[end : match.start()]) + rf"(?P<{name}>\d{{{len(match[0])}}})"
        end = match.end()
    return expression + re.escape(pattern[end:])


@evaluator("TO_DATE", "TO_TIMESTAMP")
def _to_moment(call: Call, text: Literal, pattern: Literal | None = None) -> str | None:
    if pattern is not None:
        kind = datetime if call.type.root == "DATE" else smart_moment
        return moment_text(_parse(text.value, pattern.value, kind), call.type)
    return read_moment(text.value, call.type)


@evaluator("DATE_FORMAT")
def _date_format(call: Call, moment: Literal, pattern: Literal) -> str:
    if moment.type.root == "TIMESTAMP_LTZ":
        raise UnknownValue
    return format_moment(parse_moment(moment.value), pattern.value)


@evaluator("CONVERT_TZ")
def _convert_tz(call: Call, text: Literal, source: Literal, target: Literal) -> str:
    return format_moment(_moved(parse_moment(text.value), source.value, target.value), "yyyy-MM-dd HH:mm:ss")


def in_zone(moment: datetime, zone: str) -> datetime:
    """The wall clock of a time zone at a moment of UTC.  Raises :class:`UnknownValue` for an unknown zone."""
    return _moved(moment, "UTC", zone)


def zone_to_utc(local: datetime, zone: str) -> datetime:
    """The moment, in UTC, of a time zone's wall clock.  Raises :class:`UnknownValue` for an unknown zone."""
    return _moved(local, zone, "UTC")


def _moved(local: datetime, source: str, target: str) -> datetime:
    """The wall clock of one time zone when that of another shows ``local``."""
    try:
        return local.replace(tzinfo=ZoneInfo(source)).astimezone(ZoneInfo(target)).replace(tzinfo=None)
    except (KeyError, ValueError):
        raise UnknownValue from None


@evaluator("TO_TIMESTAMP_LTZ")
def _to_timestamp_ltz(call: Call, source: Literal, *rest: Literal) -> str | None:
    if source.type.root in CHARACTER:
        pattern, zone = (*(o.value for o in rest), None, None)[:2]
        local = read_timestamp(source.value) if pattern is None else _parse(source.value, pattern)
        if local is None:
            return None
        moment = local if zone is None else _moved(local, zone, "UTC")
        return moment_text(moment, call.type, 0 if pattern is None else _below_micros(source.value, pattern))
    digits = rest[0].value if rest else 3
    if source.type.root == "DECIMAL":
        raise UnknownValue
    if source.type.root in APPROXIMATE:
        nanos = int(float(number(source)) * 10.0 ** (9 - digits))
    else:
        nanos = int(number(source)) * 10 ** (9 - digits)
    micros, below = divmod(nanos, 1000)
    return moment_text(_EPOCH + timedelta(microseconds=micros), call.type, below)


@evaluator("EXTRACT")
def _extract(call: Call, unit: Literal, source: Literal) -> int:
    if source.type.root.startswith("INTERVAL"):
        return _in_unit(unit.value, int(source.value), source.type)
    if source.type.root not in ("DATE", "TIMESTAMP"):
        raise UnknownValue
    moment = parse_moment(source.value)
    iso = moment.isocalendar()
    parts = {
        "DECADE": moment.year // 10,
        "YEAR": moment.year,
        "QUARTER": (moment.month + 2) // 3,
        "MONTH": moment.month,
        "WEEK": iso.week,
        "ISOYEAR": iso.year,
        "DAY": moment.day,
        "DOW": iso.weekday % 7 + 1,
        "ISODOW": iso.weekday,
        "DOY": moment.timetuple().tm_yday,
        "HOUR": moment.hour,
        "MINUTE": moment.minute,
        "SECOND": moment.second,
        "MILLISECOND": moment.microsecond // 1_000,
        "MICROSECOND": moment.microsecond,
        "EPOCH": (moment - _EPOCH) // timedelta(seconds=1),
    }
    if unit.value not in parts:
        raise UnknownValue
    return parts[unit.value]


_INTERVAL_FIELDS = {
    "YEAR": (12, None),
    "MONTH": (1, 12),
    "DAY": (86_400_000, None),
    "HOUR": (3_600_000, 24),
    "MINUTE": (60_000, 60),
    "SECOND": (1_000, 60),
}
"""How many months or milliseconds a field counts, and how many of it make one of the next."""


def _in_unit(unit: str, amount: int, t: LogicalType) -> int:
    months = "YEAR" in t.root or "MONTH" in t.root
    if unit not in (("YEAR", "MONTH") if months else ("DAY", "HOUR", "MINUTE", "SECOND")):
        raise UnknownValue
    size, limit = _INTERVAL_FIELDS[unit]
    count = abs(amount) // size
    return (count if limit is None else count % limit) * (-1 if amount < 0 else 1)


_UNITS = {"SECOND": "seconds", "MINUTE": "minutes", "HOUR": "hours", "DAY": "days"}


@evaluator("FLOOR", "CEIL")
def _round(call: Call, operand: Literal, unit: Literal | None = None) -> Decimal | str:
    up = is_call(call, CEIL)
    if unit is None:
        return round_whole(call, operand, up)
    if operand.type.root == "TIME" and unit.value in ("HOUR", "MINUTE", "SECOND"):
        return _round_time(operand, unit.value, up)
    if operand.type.root not in ("DATE", "TIMESTAMP"):
        raise UnknownValue
    moment = parse_moment(operand.value)
    floor = _floor(moment, unit.value)
    if up and floor < moment:
        floor = _next(floor, unit.value)
    return moment_text(floor, call.type)


def _round_time(operand: Literal, unit: str, up: bool) -> str:
    moment = parse_moment(f"1970-01-01 {operand.value}")
    floor = _floor(moment, unit)
    rounded = _next(floor, unit) if up and floor < moment else floor
    if rounded.day > 1:
        raise UnknownValue
    return rounded.time().isoformat()


def _floor(moment: datetime, unit: str) -> datetime:
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit in _UNITS:
        step = timedelta(**{_UNITS[unit]: 1})
        return moment - (moment - datetime.min) % step
    if unit == "WEEK":
        return day - timedelta(days=moment.isoweekday() % 7)
    if unit == "MONTH":
        return day.replace(day=1)
    if unit == "QUARTER":
        return day.replace(day=1, month=(moment.month - 1) // 3 * 3 + 1)
    if unit == "YEAR":
        return day.replace(day=1, month=1)
    raise UnknownValue


def _next(floor: datetime, unit: str) -> datetime:
    if unit in _UNITS:
        return floor + timedelta(**{_UNITS[unit]: 1})
    days = {"WEEK": 7, "MONTH": 31, "QUARTER": 92, "YEAR": 366}[unit]
    return _floor(floor + timedelta(days=days), unit)


def shift_months(moment: datetime, months: int) -> datetime:
    """The same day some months on, or the last of that month."""
    total = moment.year * 12 + moment.month - 1 + months
    first = moment.replace(year=total // 12, month=total % 12 + 1, day=1)
    last = (_next(_floor(first, "MONTH"), "MONTH") - timedelta(days=1)).day
    return first.replace(day=min(moment.day, last))


def months_between(end: datetime, start: datetime) -> int:
    """How many months can be added to the start without passing the end; negative where the end comes first."""
    if end < start:
        return -months_between(start, end)
    months = (end.year - start.year) * 12 + end.month - start.month
    return months if shift_months(start, months) <= end else months - 1


def shift_clock(clock: str, millis: int) -> str:
    """A time of day some milliseconds on; behind midnight it begins anew."""
    hour, minute, second = clock.split(":")
    total = (int(hour) * 60 + int(minute)) * 60_000 + int(Decimal(second) * 1000) + millis
    seconds, fraction = divmod(total % 86_400_000, 1000)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{text}.{fraction:03d}".rstrip("0") if fraction else text

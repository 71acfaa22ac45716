"""Constant calls of temporal functions, on dates and timestamps without time zone."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from ....plan.rex import Call, Literal
from ....plan.types import LogicalType
from .numbers import round_whole
from .registry import UnknownValue, evaluator

_EPOCH = datetime(1970, 1, 1)
_PATTERN = {
    "yyyy": "%Y",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
}
_PATTERN_PART = re.compile(r"([A-Za-z])\1*")
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


def moment_text(moment: datetime, t: LogicalType) -> str:
    """A moment as a literal of a type holds it: a date, or a timestamp without trailing zeros."""
    if t.root == "DATE":
        return moment.date().isoformat()
    text = moment.isoformat(sep=" ", timespec="seconds")
    fraction = f"{moment.microsecond:06d}"[: t.precision or 0].rstrip("0")
    return f"{text}.{fraction}" if fraction else text


def _format(pattern: str) -> str:
    """A Java date pattern as ``strftime``'s.  Raises :class:`UnknownValue` where it has others than the usual parts."""

    def part(match: re.Match[str]) -> str:
        found = _PATTERN.get(match[0])
        if found is None:
            raise UnknownValue
        return found

    if "'" in pattern or "%" in pattern:
        raise UnknownValue
    return _PATTERN_PART.sub(part, pattern)


def _parse(text: str, pattern: str | None) -> datetime:
    if pattern is None:
        return parse_moment(text)
    try:
        return datetime.strptime(text, _format(pattern))
    except ValueError:
        raise UnknownValue from None


@evaluator("TO_DATE", "TO_TIMESTAMP")
def _to_moment(call: Call, text: Literal, pattern: Literal | None = None) -> str:
    return moment_text(_parse(text.value, None if pattern is None else pattern.value), call.type)


@evaluator("DATE_FORMAT")
def _date_format(call: Call, moment: Literal, pattern: Literal) -> str:
    if moment.type.root == "TIMESTAMP_LTZ":
        raise UnknownValue
    parsed = parse_moment(moment.value)
    return parsed.strftime(_format(pattern.value)).rjust(4, "0")


@evaluator("CONVERT_TZ")
def _convert_tz(call: Call, text: Literal, source: Literal, target: Literal) -> str:
    try:
        zoned = parse_moment(text.value).replace(tzinfo=ZoneInfo(source.value)).astimezone(ZoneInfo(target.value))
    except (KeyError, ValueError):
        raise UnknownValue from None
    return zoned.strftime("%Y-%m-%d %H:%M:%S")


@evaluator("TO_TIMESTAMP_LTZ")
def _to_timestamp_ltz(call: Call, epoch: Literal, precision: Literal | None = None) -> str:
    unit = 3 if precision is None else precision.value
    if unit not in (0, 3) or not isinstance(epoch.value, int):
        raise UnknownValue
    millis = epoch.value * (1_000 if unit == 0 else 1)
    return moment_text(_EPOCH + timedelta(milliseconds=millis), call.type)


@evaluator("EXTRACT")
def _extract(call: Call, unit: Literal, source: Literal) -> int:
    if source.type.root not in ("DATE", "TIMESTAMP"):
        raise UnknownValue
    moment = parse_moment(source.value)
    iso = moment.isocalendar()
    parts = {
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
        "EPOCH": (moment - _EPOCH) // timedelta(seconds=1),
    }
    if unit.value not in parts:
        raise UnknownValue
    return parts[unit.value]


_UNITS = {"SECOND": "seconds", "MINUTE": "minutes", "HOUR": "hours", "DAY": "days"}


@evaluator("FLOOR", "CEIL", "CEILING")
def _round(call: Call, operand: Literal, unit: Literal | None = None) -> Decimal | str:
    up = call.name.startswith("$CEIL")
    if unit is None:
        return round_whole(call, operand, up)
    if operand.type.root not in ("DATE", "TIMESTAMP"):
        raise UnknownValue
    moment = parse_moment(operand.value)
    floor = _floor(moment, unit.value)
    if up and floor < moment:
        floor = _next(floor, unit.value)
    return moment_text(floor, call.type)


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

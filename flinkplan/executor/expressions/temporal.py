"""Functions on dates, times and timestamps.

Before 1970 fields and roundings look to the past, as after it (Flink itself rounds some of them towards 1970).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ...plan.errors import UnsupportedError
from ...plan.functions.model import FUNCTION_ID
from ...plan.types import APPROXIMATE, CHARACTER, LogicalType
from ..jvm.spark import F, T
from ..jvm.types import cast_type, has_nanos, is_year_month
from .jvm import invoke
from .math import ceil_number, floor_number
from .registry import Invocation, scalar
from .timestamps import nanos_of, time_of_day, to_local, to_micros, truncate, with_nanos

if TYPE_CHECKING:
    from pyspark.sql import Column

_DEFAULT_PATTERN = "yyyy-MM-dd HH:mm:ss"
_LTZ = LogicalType("TIMESTAMP_LTZ", precision=3)

# ---------------------------------------------------------------- fields

_DATE_FIELDS: dict[str, Callable[[Column], Column]] = {
    "YEAR": F.year,
    "QUARTER": F.quarter,
    "MONTH": F.month,
    "WEEK": F.weekofyear,
    "DAY": F.dayofmonth,
    "DOW": F.dayofweek,
    "DOY": F.dayofyear,
    "ISODOW": lambda d: F.weekday(d) + 1,
    "ISOYEAR": lambda d: F.extract(F.lit("YEAROFWEEK"), d),
    "DECADE": lambda d: F.floor(F.year(d) / 10),
    "CENTURY": lambda d: F.ceil(F.year(d) / 100),
    "MILLENNIUM": lambda d: F.ceil(F.year(d) / 1000),
}

_MICROS_PER = {"HOUR": 3_600_000_000, "MINUTE": 60_000_000, "SECOND": 1_000_000}
_FRACTIONS = {"MILLISECOND": 10**6, "MICROSECOND": 10**3, "NANOSECOND": 1}


@scalar("$EXTRACT$1")
def extract(call: Invocation, a: Column) -> Column:
    """``EXTRACT(unit FROM a)``."""
    unit, t = call.symbol(0), call.types[1]
    if t.root.startswith("INTERVAL"):
        return _interval_field(unit, a, t).cast(cast_type(call.type))
    return _field(unit, a, t, call.time_zone).cast(cast_type(call.type))


def _field(unit: str, a: Column, t: LogicalType, time_zone: str) -> Column:
    if t.root == "TIME":
        return _clock_field(unit, a.cast("bigint") * 1000, F.lit(0))
    local = a if t.root == "DATE" else to_local(to_micros(a, t), t, time_zone)
    if unit in _DATE_FIELDS:
        return _DATE_FIELDS[unit](local)
    if unit == "EPOCH":
        return F.unix_seconds(local.cast("timestamp"))
    return _clock_field(unit, time_of_day(local.cast("timestamp")), nanos_of(a, t))


_MONTH_FIELDS: Mapping[str, tuple[int, int | None]] = {"YEAR": (12, None), "MONTH": (1, 12)}
_MILLI_FIELDS: Mapping[str, tuple[int, int | None]] = {
    "DAY": (86_400_000, None),
    "HOUR": (3_600_000, 24),
    "MINUTE": (60_000, 60),
    "SECOND": (1_000, 60),
}
"""How many months or milliseconds a field counts, and how many of it make one of the next."""


def _interval_field(unit: str, a: Column, t: LogicalType) -> Column:
    """A field of an interval; those of a negative one are negative."""
    fields = _MONTH_FIELDS if is_year_month(t) else _MILLI_FIELDS
    if unit not in fields:
        raise UnsupportedError(f"EXTRACT({unit} FROM {t}) is not supported")
    size, limit = fields[unit]
    count = F.call_function("div", a, F.lit(size))
    return count if limit is None else count % limit


def _clock_field(unit: str, micros: Column, nanos: Column) -> Column:
    """A field of a time of day."""
    if unit in _MICROS_PER:
        return F.floor(micros / _MICROS_PER[unit]) % (24 if unit == "HOUR" else 60)
    if unit in _FRACTIONS:
        return F.floor((micros % 1_000_000 * 1000 + nanos) / _FRACTIONS[unit])
    raise UnsupportedError(f"EXTRACT({unit} FROM …) is not supported")


# ---------------------------------------------------------------- rounding

_WHOLE_DAYS = ("DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "DECADE", "CENTURY", "MILLENNIUM")
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12, "DECADE": 120, "CENTURY": 1200, "MILLENNIUM": 12000}
_DAYS = {"DAY": 1, "WEEK": 7}
_MICROS = {"MILLISECOND": 1000, "SECOND": 10**6, "MINUTE": 60 * 10**6, "HOUR": 3600 * 10**6}


@scalar("$FLOOR$1", kernel=True)
def floor(call: Invocation, a: Column) -> Column:
    """``FLOOR(number)`` or ``FLOOR(instant TO unit)``."""
    return floor_number(call, a) if len(call.types) == 1 else _rounded(call, a, up=False)


@scalar("$CEIL$1", kernel=True)
def ceil(call: Invocation, a: Column) -> Column:
    """``CEIL(number)`` or ``CEIL(instant TO unit)``."""
    return ceil_number(call, a) if len(call.types) == 1 else _rounded(call, a, up=True)


def _rounded(call: Invocation, a: Column, *, up: bool) -> Column:
    unit, t = call.symbol(1), call.types[0]
    if t.root == "DATE":
        return _round_date(unit, a, up=up)
    if t.root == "TIME":
        return F.floor(_round_micros(unit, a.cast("bigint") * 1000, up=up) / 1000).cast("int")
    local = to_local(to_micros(a, t), t, call.time_zone)
    if unit == "DAY" and up:
        rounded = F.timestamp_micros(_to_multiple(F.unix_micros(local), 24 * _MICROS["HOUR"], up=True))
    elif unit in _WHOLE_DAYS:
        rounded = _round_date(unit, local.cast("date"), up=up).cast("timestamp")
    else:
        rounded = F.timestamp_micros(_round_micros(unit, F.unix_micros(local), up=up))
    # back by the offset of the instant itself, also where the rounded one has another
    offset = F.unix_micros(local) - F.unix_micros(to_micros(a, t))
    rounded = F.timestamp_micros(F.unix_micros(rounded) - offset)
    return with_nanos(rounded) if has_nanos(t) else rounded


def _round_micros(unit: str, micros: Column, *, up: bool) -> Column:
    if unit not in _MICROS:
        raise UnsupportedError(f"rounding to {unit} is not supported")
    return _to_multiple(micros, _MICROS[unit], up=up)


def _to_multiple(a: Column, size: int, *, up: bool) -> Column:
    below = a - F.pmod(a, F.lit(size))
    return F.when(below == a, a).otherwise(below + size) if up else below


def _round_date(unit: str, day: Column, *, up: bool) -> Column:
    """To the start of the unit; a week starts on Sunday.  Rounding up leaves a first day as it is."""
    if unit not in _WHOLE_DAYS:
        return day
    first = _first_day(unit, day)
    if not up:
        return first
    following = F.date_add(first, _DAYS[unit]) if unit in _DAYS else F.add_months(first, _MONTHS[unit])
    return F.when(first == day, day).otherwise(following)


def _first_day(unit: str, day: Column) -> Column:
    if unit == "DAY":
        return day
    if unit == "WEEK":
        return F.date_sub(day, F.dayofweek(day) - 1)
    months = F.year(day) * 12 + F.month(day) - 1
    # centuries and millennia start with the years 1, 101, 1001 …
    offset = 12 if unit in ("CENTURY", "MILLENNIUM") else 0
    return F.add_months(F.trunc(day, "month"), -F.pmod(months - offset, F.lit(_MONTHS[unit])))


# ---------------------------------------------------------------- formatting and parsing


@scalar("$DATE_FORMAT$1", kernel=True)
def date_format(call: Invocation, a: Column, pattern: Column) -> Column:
    """A timestamp by a DateTimeFormatter pattern, or a text yyyy-MM-dd HH:mm:ss by a SimpleDateFormat pattern."""
    t = call.types[0]
    if t.root in CHARACTER:
        return invoke("Times.reformat", T.StringType(), a, pattern)
    local = to_local(to_micros(a, t), t, call.time_zone)
    return invoke("Times.format", T.StringType(), F.unix_micros(local), nanos_of(a, t), pattern)


@scalar("$TO_DATE$1", kernel=True)
def to_date(call: Invocation, text: Column, pattern: Column | None = None) -> Column:
    """The date of a text; NULL where it is none (Flink gives a date far off for a text against its pattern)."""
    if pattern is None:
        return invoke("Times.parseDate", T.DateType(), text)
    return invoke("Times.parseDateBy", T.DateType(), text, pattern)


@scalar("$TO_TIMESTAMP$1", kernel=True)
def to_timestamp(call: Invocation, text: Column, pattern: Column | None = None) -> Column:
    """The TIMESTAMP(3) of a text; NULL where it is none."""
    if pattern is None:
        return truncate(invoke("Times.parseTimestamp", T.TimestampType(), text), 3)
    return invoke("Times.parseTimestampBy", T.TimestampType(), text, pattern)


@scalar("$TO_TIMESTAMP_LTZ$1", kernel=True)
def to_timestamp_ltz(call: Invocation, a: Column, *rest: Column) -> Column:
    """Of a number and how many digits of the second it counts; or of a text, a pattern and a zone."""
    t = call.types[0]
    if t.root not in CHARACTER:
        return _from_epoch(call, a, rest[0] if rest else F.lit(3))
    if not rest:
        return truncate(invoke("Times.requireTimestamp", T.TimestampType(), a), 3)
    pattern, *zone = rest
    micros = invoke("Times.parseInstantBy", T.TimestampType(), a, pattern)
    if zone:
        micros = invoke("Times.ofZone", T.TimestampType(), F.unix_micros(micros), zone[0])
    if not has_nanos(call.type):
        return micros
    return with_nanos(micros, invoke("Times.parseInstantNanosBy", T.ShortType(), a, pattern))


def _from_epoch(call: Invocation, a: Column, digits: Column) -> Column:
    """A number of an exact type loses its fraction first."""
    method = "Times.ofFractionalEpoch" if call.types[0].root in APPROXIMATE else "Times.ofEpoch"
    count = a.cast("bigint") if call.types[0].root == "DECIMAL" else a
    micros = invoke(method, T.TimestampType(), count, digits)
    return (
        with_nanos(micros, invoke(f"{method}Nanos", T.ShortType(), count, digits)) if has_nanos(call.type) else micros
    )


@scalar("$FROM_UNIXTIME$1", kernel=True)
def from_unixtime(call: Invocation, seconds: Column, pattern: Column | None = None) -> Column:
    """Epoch seconds as text in the session's time zone."""
    by = F.lit(_DEFAULT_PATTERN) if pattern is None else pattern
    return invoke("Times.fromEpochSecond", T.StringType(), seconds, by, F.lit(call.time_zone))


@scalar("$UNIX_TIMESTAMP$1", kernel=True)
def unix_timestamp(call: Invocation, text: Column | None = None, pattern: Column | None = None) -> Column:
    """The current epoch second, or that of a text in the session's time zone."""
    if text is None:
        return F.unix_seconds(F.current_timestamp())
    by = F.lit(_DEFAULT_PATTERN) if pattern is None else pattern
    return invoke("Times.toEpochSecond", T.LongType(), text, by, F.lit(call.time_zone))


@scalar("$CONVERT_TZ$1", kernel=True)
def convert_tz(call: Invocation, text: Column, source: Column, target: Column) -> Column:
    """A text yyyy-MM-dd HH:mm:ss moved from one time zone to another; NULL where it has not that form."""
    return invoke("Times.convertZone", T.StringType(), text, source, target)


# ---------------------------------------------------------------- the clock


def _now() -> Column:
    return truncate(F.current_timestamp(), 3)


@scalar("$NOW$1", "$CURRENT_ROW_TIMESTAMP$1", "$PROCTIME$1")
@scalar("$CURRENT_TIMESTAMP$1", syntax=FUNCTION_ID)
def current_timestamp(call: Invocation) -> Column:
    """The time at which the batch started."""
    return _now()


@scalar("$CURRENT_WATERMARK$1")
def current_watermark(call: Invocation, rowtime: Column) -> Column:
    """The watermark when the row arrived, whichever the rowtime column; NULL before the first one."""
    if call.watermark is None:
        raise UnsupportedError(
            "CURRENT_WATERMARK is not known here", hint="use it before the first operator that keeps state"
        )
    return F.timestamp_millis(call.watermark)


@scalar("$PROCTIME_MATERIALIZE$1")
def proctime_materialize(call: Invocation, a: Column) -> Column:
    """A processing-time attribute as a value."""
    return F.coalesce(a, _now())


@scalar("$LOCALTIMESTAMP$1", syntax=FUNCTION_ID)
def local_timestamp(call: Invocation) -> Column:
    """The wall clock of the session's time zone."""
    return to_local(_now(), _LTZ, call.time_zone)


@scalar("$CURRENT_DATE$1", syntax=FUNCTION_ID)
def current_date(call: Invocation) -> Column:
    """The date in the session's time zone."""
    return local_timestamp(call).cast("date")


@scalar("$LOCALTIME$1", "$CURRENT_TIME$1", syntax=FUNCTION_ID)
def local_time(call: Invocation) -> Column:
    """The time of day in the session's time zone, in whole seconds."""
    return (F.floor(time_of_day(local_timestamp(call)) / 1_000_000) * 1000).cast("int")


@scalar("$CURRENT_DATABASE$1")
def current_database(call: Invocation) -> Column:
    """The database that a plan's tables are in unless they say otherwise."""
    return F.lit("default_database")

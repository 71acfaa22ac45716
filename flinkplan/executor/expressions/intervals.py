"""Dates, times and timestamps plus and minus intervals, and the intervals between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...plan.errors import UnsupportedError
from ...plan.functions.model import SPECIAL
from ...plan.rex import Call
from ...plan.types import DATETIME, LogicalType
from ..jvm.spark import F, T
from ..jvm.types import cast_type, has_nanos, is_year_month
from .jvm import invoke
from .registry import Invocation, scalar
from .timestamps import nanos_of, time_of_day, to_micros, with_nanos

if TYPE_CHECKING:
    from pyspark.sql import Column

MILLIS_PER_DAY = 86_400_000


def is_shift(call: Invocation) -> bool:
    """Whether a ``+`` or ``-`` moves a date, time or timestamp by an interval."""
    return call.type.root in DATETIME


def shift(call: Invocation, a: Column, b: Column, sign: int) -> Column:
    """``a`` moved by the interval ``b``, or ``b`` by ``a``; backwards where ``sign`` is -1."""
    instant, interval = (b, a) if call.types[0].root.startswith("INTERVAL") else (a, b)
    instant_type, interval_type = sorted(call.types, key=lambda t: t.root.startswith("INTERVAL"))
    amount = interval if sign > 0 else -interval
    by_months = is_year_month(interval_type)
    if instant_type.root == "DATE" and call.type.root != "DATE":
        instant, instant_type = instant.cast("timestamp"), call.type
    if instant_type.root == "DATE":
        return F.add_months(instant, amount) if by_months else F.date_add(instant, _whole_days(amount))
    if instant_type.root == "TIME":
        return instant if by_months else F.pmod(instant + amount, F.lit(MILLIS_PER_DAY)).cast("int")
    micros = to_micros(instant, instant_type)
    moved = _add_months(micros, amount) if by_months else _add_millis(micros, amount)
    return with_nanos(moved, nanos_of(instant, instant_type)) if has_nanos(instant_type) else moved


def _whole_days(millis: Column) -> Column:
    return (millis / MILLIS_PER_DAY).cast("int")


def _add_months(micros: Column, months: Column) -> Column:
    """Months are added to the date; its day is cut to the length of the month it comes to."""
    day = F.add_months(micros.cast("date"), months)
    return F.timestamp_micros(F.unix_micros(day.cast("timestamp")) + time_of_day(micros))


def _add_millis(micros: Column, millis: Column) -> Column:
    return F.timestamp_micros(F.unix_micros(micros) + millis * 1000)


@scalar("$+$1", syntax=SPECIAL)
def plus(call: Invocation, a: Column, b: Column) -> Column:
    """A date, time or timestamp plus an interval."""
    return shift(call, a, b, 1)


def check_minus(call: Call) -> None:
    """Raise :class:`UnsupportedError` for the interval between an instant and a local time, which Flink never runs."""
    left, right = (o.type.regular().nullable_() for o in call.operands)
    if {left.root, right.root} <= {*DATETIME} and (left.root == "TIMESTAMP_LTZ") != (right.root == "TIMESTAMP_LTZ"):
        raise UnsupportedError(
            f"{left} and {right} are not taken from each other: Flink compiles this, but no job with it starts",
            hint="CAST one side to the type of the other",
        )


@scalar("$-$1", syntax=SPECIAL, check=check_minus)
def minus(call: Invocation, a: Column, b: Column) -> Column:
    """A date, time or timestamp minus an interval, or the interval between two of them."""
    if is_shift(call):
        return shift(call, a, b, -1)
    later, earlier = (to_millis(x, t) for x, t in zip((a, b), call.types, strict=True))
    if is_year_month(call.type):
        return invoke("Times.monthsBetween", T.IntegerType(), later, earlier)
    return (later - earlier).cast(cast_type(call.type))


_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_MILLIS = {"SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": MILLIS_PER_DAY, "WEEK": 7 * MILLIS_PER_DAY}


@scalar("$TIMESTAMPDIFF$1")
def timestamp_diff(call: Invocation, end: Column, start: Column) -> Column:
    """The whole units between two instants."""
    unit = call.symbol(0)
    later, earlier = (to_millis(x, t) for x, t in zip((end, start), call.types[1:], strict=True))
    if unit in _MONTHS:
        months = invoke("Times.monthsBetween", T.IntegerType(), later, earlier)
        return F.call_function("div", months, F.lit(_MONTHS[unit])).cast(cast_type(call.type))
    if unit not in _MILLIS:
        raise UnsupportedError(f"TIMESTAMPDIFF({unit}, …) is not supported")
    return F.call_function("div", later - earlier, F.lit(_MILLIS[unit])).cast(cast_type(call.type))


def to_millis(a: Column, t: LogicalType) -> Column:
    """Milliseconds since 1970, or since midnight for a TIME."""
    if t.root == "DATE":
        return F.unix_date(a).cast("bigint") * MILLIS_PER_DAY
    if t.root == "TIME":
        return a.cast("bigint")
    return F.unix_millis(to_micros(a, t))

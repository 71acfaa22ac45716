"""The two ways in which a timestamp is held, and the way between them; see :mod:`..types`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...plan.types import LogicalType
from ..jvm.spark import F
from ..jvm.types import has_nanos

if TYPE_CHECKING:
    from pyspark.sql import Column

MICROS_PER_DAY = 86_400_000_000


def with_nanos(micros: Column, nanos: Column | int = 0) -> Column:
    """A timestamp with nanoseconds below its microsecond; NULL where ``micros`` is."""
    below = F.lit(nanos) if isinstance(nanos, int) else nanos
    pair = F.struct(micros.alias("micros"), below.cast("short").alias("nanos"))
    return F.when(micros.isNotNull(), pair)


def to_micros(column: Column, t: LogicalType) -> Column:
    """The timestamp without what lies below its microsecond."""
    return column.getField("micros") if has_nanos(t) else column


def nanos_of(column: Column, t: LogicalType) -> Column:
    """The nanoseconds (0 to 999) below the microsecond."""
    return column.getField("nanos") if has_nanos(t) else F.lit(0).cast("short")


def truncate(micros: Column, precision: int) -> Column:
    """``micros`` without its digits below ``precision``; towards the past, also before 1970."""
    unit = 10 ** max(0, 6 - precision)
    if unit == 1:
        return micros
    count = F.unix_micros(micros)
    return F.timestamp_micros(count - F.pmod(count, F.lit(unit)))


def to_local(micros: Column, t: LogicalType, time_zone: str) -> Column:
    """The wall clock of a TIMESTAMP or TIMESTAMP_LTZ in the session's time zone."""
    return F.from_utc_timestamp(micros, time_zone) if _is_shifted(t, time_zone) else micros


def from_local(local: Column, t: LogicalType, time_zone: str) -> Column:
    """The TIMESTAMP or TIMESTAMP_LTZ of the type ``t`` whose wall clock is ``local``."""
    return F.to_utc_timestamp(local, time_zone) if _is_shifted(t, time_zone) else local


def _is_shifted(t: LogicalType, time_zone: str) -> bool:
    return t.root == "TIMESTAMP_LTZ" and time_zone != "UTC"


def time_of_day(micros: Column) -> Column:
    """The microseconds since midnight."""
    return F.pmod(F.unix_micros(micros), F.lit(MICROS_PER_DAY))

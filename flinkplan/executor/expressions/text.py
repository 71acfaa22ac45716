"""Values as text, the way ``CAST(… AS STRING)`` writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...plan.errors import UnsupportedError
from ...plan.types import APPROXIMATE, BINARY_STRING, CHARACTER, INTEGERS, TIMESTAMPS, LogicalType
from ..jvm.spark import F, T
from ..jvm.types import MICROSECOND_DIGITS, field_name, is_day_time, is_year_month
from .jvm import invoke
from .maps import entries_of
from .timestamps import nanos_of, to_local, to_micros

if TYPE_CHECKING:
    from pyspark.sql import Column

_NULL = "NULL"
_YEAR_10000 = 253_402_300_800
"""In seconds since 1970."""


def to_text(a: Column, t: LogicalType, time_zone: str) -> Column:
    """``a`` as text, neither cut nor padded.  Raises :class:`UnsupportedError` for a type without text."""
    if t.root in CHARACTER:
        return a
    if t.root in (*INTEGERS, *APPROXIMATE, *BINARY_STRING, "NULL"):
        return a.cast("string")
    if t.root == "DATE":
        return _four_digits(a.cast("string"), a < F.date_from_unix_date(F.lit(_YEAR_10000 // 86_400)))
    if t.root == "BOOLEAN":
        return F.upper(a.cast("string"))
    if t.root == "DECIMAL":
        return invoke("Texts.ofDecimal", T.StringType(), a)
    if t.root == "TIME":
        text = F.date_format(F.timestamp_millis(a), _pattern("HH:mm:ss", t.precision or 0))
        return F.regexp_replace(text, r"(\.\d+?)0+$", "$1")
    if t.root in TIMESTAMPS:
        return _timestamp(a, t, time_zone)
    if is_day_time(t):
        return invoke("Texts.ofDayTime", T.StringType(), a)
    if is_year_month(t):
        return invoke("Texts.ofYearMonth", T.StringType(), a)
    if t.root == "BITMAP":
        return invoke("Bitmaps.text", T.StringType(), a)
    if t.root == "ARRAY":
        elements = F.transform(a, lambda x: to_text(x, t.element, time_zone))
        return _enclose("[", F.array_join(elements, ", ", _NULL), "]")
    if t.root in ("MAP", "MULTISET"):
        return _map(a, t, time_zone)
    if t.root in ("ROW", "STRUCTURED"):
        fields = [_or_null(to_text(a.getField(field_name(i)), f, time_zone)) for i, f in enumerate(t.field_types)]
        if t.root == "STRUCTURED":
            fields = [F.concat(F.lit(f"{name}="), text) for name, text in zip(t.field_names, fields, strict=True)]
        return F.when(a.isNotNull(), _enclose("(", F.concat_ws(", ", *fields), ")"))
    raise UnsupportedError(f"values of the type {t} cannot be cast to text")


def _or_null(text: Column) -> Column:
    return F.coalesce(text, F.lit(_NULL))


def _enclose(start: str, text: Column, end: str) -> Column:
    return F.concat(F.lit(start), text, F.lit(end))


def _pattern(seconds: str, digits: int) -> str:
    return f"{seconds}.{'S' * digits}" if digits else seconds


def _four_digits(text: Column, is_near: Column) -> Column:
    """The text of a time with the last four digits of its year, which alone Flink writes.

    Source: ``DateTimeUtils.formatTimestampMillis``.
    """
    return F.when(is_near, text).otherwise(F.regexp_replace(text, r"^\+\d+(\d{4}-)", "$1"))


def _timestamp(a: Column, t: LogicalType, time_zone: str) -> Column:
    digits = t.precision or 0
    local = to_local(to_micros(a, t), t, time_zone)
    text = F.date_format(local, _pattern("yyyy-MM-dd HH:mm:ss", min(digits, MICROSECOND_DIGITS)))
    text = _four_digits(text, local < F.timestamp_seconds(F.lit(_YEAR_10000)))
    if digits <= MICROSECOND_DIGITS:
        return text
    below = F.lpad(nanos_of(a, t).cast("string"), 3, "0")
    return F.concat(text, F.substring(below, 1, digits - MICROSECOND_DIGITS))


def _map(a: Column, t: LogicalType, time_zone: str) -> Column:
    value_type = LogicalType("INT") if t.root == "MULTISET" else t.children[1]

    def entry(e: Column) -> Column:
        key = _or_null(to_text(e.getField("key"), t.children[0], time_zone))
        value = _or_null(to_text(e.getField("value"), value_type, time_zone))
        return F.concat(key, F.lit("="), value)

    return _enclose("{", F.array_join(F.transform(entries_of(a, t), entry), ", "), "}")

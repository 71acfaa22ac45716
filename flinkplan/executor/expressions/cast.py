"""CAST and TRY_CAST between all types.

:func:`convert` yields NULL where a value has no counterpart; where Flink fails instead, :func:`fails` says
so, and CAST raises an error while TRY_CAST yields NULL.  Source: Flink's cast rules.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from ...plan.errors import UnsupportedError
from ...plan.functions.cast import cast_alternative, cast_without_rule
from ...plan.functions.model import SPECIAL
from ...plan.rex import Call
from ...plan.types import (
    APPROXIMATE,
    BINARY_STRING,
    CHARACTER,
    INTEGERS,
    NUMERIC,
    STRING_LENGTH,
    TIMESTAMPS,
    LogicalType,
)
from ...plan.types.readable import readable
from ..jvm.spark import F, T
from ..jvm.types import cast_type, has_nanos, is_day_time, is_year_month, spark_type
from .arithmetic import as_approximate
from .jvm import invoke
from .maps import keys_of, map_of
from .registry import Invocation, scalar
from .text import to_text
from .timestamps import from_local, nanos_of, time_of_day, to_local, to_micros, truncate, with_nanos

if TYPE_CHECKING:
    from pyspark.sql import Column

_PARSERS = {"DOUBLE": "Numbers.parseDouble", "FLOAT": "Numbers.parseFloat"}
# Spark would take the digits of every script, and control characters for blanks
_PLAIN_INTEGER = r"^[\x20-\x7E]*$"
# Spark would read a BOOLEAN between blanks
_BLANK_ENDED = r"^[\s\x00-\x20]|[\s\x00-\x20]$"
_CONSTRUCTED = ("ARRAY", "MAP", "MULTISET", "ROW", "STRUCTURED")
_FROM_TEXT = (*NUMERIC, "BOOLEAN", "DATE", "TIME", *TIMESTAMPS)


def check_cast(call: Call) -> None:
    """Raise :class:`UnsupportedError` for a cast that Flink compiles and has no rule for."""
    source, target = call.operands[0].type, call.type
    unruled = cast_without_rule(source, target)
    if unruled:
        raise UnsupportedError(
            readable(f"a value of type {source.regular().nullable_()} cannot be cast to {target.nullable_()}: ")
            + "Flink compiles this cast, but no job with it starts",
            hint=cast_alternative(*unruled),
        )


@scalar("$CAST$1", syntax=SPECIAL, check=check_cast)
def cast(call: Invocation, a: Column) -> Column:
    """``CAST(a AS type)``: fails where a text does not denote a value of the type.

    Legacy casts yield NULL there, and texts neither cut nor padded.
    """
    source, target = call.types[0], call.type
    if call.legacy_casts:
        return _legacy_text(a, source, call.time_zone) if target.root in CHARACTER else try_cast(call, a)
    converted = convert(a, source, target, call.time_zone)
    if not _may_fail(source, target):
        return converted
    message = F.concat(F.lit("cannot cast '"), to_text(a, source, call.time_zone), F.lit(f"' to {target}"))
    error = F.raise_error(message).cast(cast_type(target))
    return F.when(fails(a, source, target, call.time_zone), error).otherwise(converted)


def _legacy_text(a: Column, source: LogicalType, time_zone: str) -> Column:
    text = to_text(a, source, time_zone)
    return F.lower(text) if source.root == "BOOLEAN" else text


@scalar("$TRY_CAST$1", syntax=SPECIAL, check=check_cast)
def try_cast(call: Invocation, a: Column) -> Column:
    """``TRY_CAST(a AS type)``: NULL where CAST fails."""
    source, target = call.types[0], call.type
    converted = convert(a, source, target, call.time_zone)
    if source.root not in _CONSTRUCTED or not _may_fail(source, target):
        return converted
    return F.when(~fails(a, source, target, call.time_zone), converted)


def convert(a: Column, source: LogicalType, target: LogicalType, time_zone: str) -> Column:
    """``a`` as a value of the type ``target``; NULL where there is none.

    Raises :class:`UnsupportedError` for a pair of types that cannot be cast.
    """
    if source.root == "NULL":
        return a.cast(cast_type(target))
    if target.root in CHARACTER:
        return fit_text(to_text(a, source, time_zone), source, target)
    if target.root in BINARY_STRING and source.root in (*CHARACTER, *BINARY_STRING, "BITMAP"):
        return fit_bytes(a.cast("binary"), source, target)
    if target.root in _PARSERS and source.root in CHARACTER:
        return invoke(_PARSERS[target.root], spark_type(target), a)
    if target.root == "DECIMAL" and source.root in CHARACTER:
        digits = F.lit(target.precision), F.lit(target.scale)
        return invoke("Numbers.parseDecimal", spark_type(target), a, *digits)
    if target.root in INTEGERS and source.root in CHARACTER:
        return F.when(a.rlike(_PLAIN_INTEGER), a.cast(cast_type(target)))
    if target.root == "BOOLEAN" and source.root in CHARACTER:
        return F.when(~a.rlike(_BLANK_ENDED), a.cast("boolean"))
    if target.root in APPROXIMATE and source.root == "DECIMAL":
        return as_approximate(a, source, target)
    if target.root in ("BOOLEAN", *NUMERIC) and source.root in ("BOOLEAN", *NUMERIC, *CHARACTER):
        return a.cast(cast_type(target))
    if target.root == "DATE":
        return _to_date(a, source, target, time_zone)
    if target.root == "TIME":
        return _to_time(a, source, target, time_zone)
    if target.root in TIMESTAMPS:
        return _to_timestamp(a, source, target, time_zone)
    if target.root in _CONSTRUCTED and source.root in _CONSTRUCTED:
        return _to_constructed(a, source, target, time_zone)
    if _same_interval(source, target) or {source.root[:8], target.root[:8]} <= {"INTERVAL", "BIGINT", "INT"}:
        return a.cast(cast_type(target))
    raise _unsupported(source, target)


def _unsupported(source: LogicalType, target: LogicalType) -> UnsupportedError:
    return UnsupportedError(f"CAST from {source} to {target} is not supported")


def _same_interval(source: LogicalType, target: LogicalType) -> bool:
    return (is_year_month(source) and is_year_month(target)) or (is_day_time(source) and is_day_time(target))


# ---------------------------------------------------------------- failure


def _may_fail(source: LogicalType, target: LogicalType) -> bool:
    if source.root in CHARACTER:
        return target.root in _FROM_TEXT
    if source.root in _CONSTRUCTED and target.root in _CONSTRUCTED:
        pairs = zip(_parts(source), _parts(target), strict=False)
        return any(_may_fail(s, t) for s, t in pairs)
    return False


def _parts(t: LogicalType) -> tuple[LogicalType, ...]:
    return t.children or t.field_types


def fails(a: Column, source: LogicalType, target: LogicalType, time_zone: str) -> Column:
    """Whether CAST fails on ``a``."""
    if not _may_fail(source, target):
        return F.lit(False)
    if source.root not in _CONSTRUCTED:
        return a.isNotNull() & convert(a, source, target, time_zone).isNull()
    inner = list(zip(_parts(source), _parts(target), strict=False))
    if source.root in ("ROW", "STRUCTURED"):
        failing = [fails(a.getField(f"f{i}"), s, t, time_zone) for i, (s, t) in enumerate(inner)]
    else:
        elements = [a] if source.root == "ARRAY" else [keys_of(a, source), F.map_values(a)]
        failing = [_any_fails(e, s, t, time_zone) for e, (s, t) in zip(elements, inner, strict=False)]
    return F.coalesce(reduce(lambda x, y: x | y, failing), F.lit(False))


def _any_fails(elements: Column, source: LogicalType, target: LogicalType, time_zone: str) -> Column:
    return F.exists(elements, lambda x: fails(x, source, target, time_zone))


# ---------------------------------------------------------------- text and bytes


def fit_text(text: Column, source: LogicalType, target: LogicalType) -> Column:
    """A text cut to the length of ``target``, and padded with spaces for CHAR."""
    length = target.length or 0
    if target.root == "CHAR":
        return F.rpad(text, length, " ")
    if length == STRING_LENGTH or (source.root in CHARACTER and (source.length or 0) <= length):
        return text
    return F.substring(text, 1, length)


def fit_bytes(data: Column, source: LogicalType, target: LogicalType) -> Column:
    """Bytes cut to the length of ``target``, and padded with zeros for BINARY."""
    length = target.length or 0
    if target.root == "BINARY":
        return F.rpad(data, length, F.lit(b"\0"))
    if length == STRING_LENGTH or (source.root in BINARY_STRING and (source.length or 0) <= length):
        return data
    return F.substring(data, 1, length)


# ---------------------------------------------------------------- dates and times


def _to_date(a: Column, source: LogicalType, target: LogicalType, time_zone: str) -> Column:
    if source.root == "DATE":
        return a
    if source.root in CHARACTER:
        return invoke("Times.parseDate", T.DateType(), a)
    if source.root in TIMESTAMPS:
        return to_local(to_micros(a, source), source, time_zone).cast("date")
    raise _unsupported(source, target)


def _to_time(a: Column, source: LogicalType, target: LogicalType, time_zone: str) -> Column:
    if source.root in CHARACTER:
        millis = invoke("Times.parseTime", T.IntegerType(), a)
    elif source.root == "TIME":
        millis = a
    elif source.root in TIMESTAMPS:
        millis = F.floor(time_of_day(to_local(to_micros(a, source), source, time_zone)) / 1000).cast("int")
    else:
        raise _unsupported(source, target)
    unit = 10 ** max(0, 3 - (target.precision or 0))
    return millis if unit == 1 else millis - millis % unit


def _to_timestamp(a: Column, source: LogicalType, target: LogicalType, time_zone: str) -> Column:
    if source.root == target.root:
        local = to_micros(a, source)
    elif source.root in TIMESTAMPS:
        local = to_local(to_micros(a, source), source, time_zone)
        local = from_local(local, target, time_zone)
    else:
        local = from_local(_local_timestamp(a, source, target), target, time_zone)
    if not has_nanos(target):
        return truncate(local, target.precision or 0)
    below = invoke("Times.parseNanos", T.ShortType(), a) if source.root in CHARACTER else nanos_of(a, source)
    return with_nanos(local, _cut_nanos(below, target))


def _local_timestamp(a: Column, source: LogicalType, target: LogicalType) -> Column:
    if source.root in CHARACTER:
        return invoke("Times.parseTimestamp", T.TimestampType(), a)
    if source.root == "DATE":
        return a.cast("timestamp")
    if source.root == "TIME":
        return F.timestamp_millis(a)
    raise _unsupported(source, target)


def _cut_nanos(nanos: Column, target: LogicalType) -> Column:
    unit = 10 ** (9 - (target.precision or 9))
    return nanos if unit == 1 else nanos - nanos % unit


# ---------------------------------------------------------------- constructed types


def _to_constructed(a: Column, source: LogicalType, target: LogicalType, time_zone: str) -> Column:
    if source.root != target.root and not {source.root, target.root} <= {"ROW", "STRUCTURED"}:
        raise _unsupported(source, target)
    if spark_type(source) == spark_type(target) and not _lengths_differ(source, target):
        return a
    if source.root == "ARRAY":
        return F.transform(a, lambda x: convert(x, source.element, target.element, time_zone))
    if source.root in ("MAP", "MULTISET"):
        keys = F.transform(keys_of(a, source), lambda k: convert(k, source.children[0], target.children[0], time_zone))
        if source.root == "MULTISET":
            return map_of(keys, F.map_values(a), target)
        values = F.transform(F.map_values(a), lambda v: convert(v, source.children[1], target.children[1], time_zone))
        return map_of(keys, values, target)
    fields = [
        convert(a.getField(f"f{i}"), s, t, time_zone).alias(f"f{i}")
        for i, (s, t) in enumerate(zip(source.field_types, target.field_types, strict=True))
    ]
    return F.when(a.isNotNull(), F.struct(*fields))


def _lengths_differ(source: LogicalType, target: LogicalType) -> bool:
    """Whether types that Spark holds alike differ in a length or precision that a cast enforces."""
    return source.with_nullability(True) != target.with_nullability(True)

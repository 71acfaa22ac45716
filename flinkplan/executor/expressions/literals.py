"""Literals as columns."""

from __future__ import annotations

import base64
import re
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ...plan.errors import PlanError
from ...plan.rex import Literal
from ...plan.types import LogicalType
from ..jvm.spark import F
from ..jvm.types import cast_type, has_nanos

if TYPE_CHECKING:
    from pyspark.sql import Column

_EPOCH_DAY = date(1970, 1, 1).toordinal()
_CLOCK = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?")


def literal(rex: Literal) -> Column:
    """The column of a literal.  Raises :class:`PlanError` where its value does not suit its type."""
    return constant(rex.value, rex.type)


def constant(value: Any, t: LogicalType) -> Column:
    """The column of a value that is written as in a plan's literal of the type ``t``; a TIMESTAMP_LTZ is in UTC."""
    target = cast_type(t)
    if value is None:
        return F.lit(None).cast(target)
    try:
        match t.root:
            case "DECIMAL":
                return F.lit(Decimal(str(value))).cast(target)
            case "FLOAT" | "DOUBLE":
                return F.lit(float(value)).cast(target)
            case "BINARY" | "VARBINARY":
                return F.lit(base64.b64decode(value))
            case "DATE":
                return F.date_from_unix_date(F.lit(_days(value)))
            case "TIME":
                return F.lit(_nanos_of_day(value) // 1_000_000)
            case "TIMESTAMP" | "TIMESTAMP_LTZ":
                return _timestamp(value, t)
            case root if root.startswith("INTERVAL"):
                return F.lit(int(value)).cast(target)
            case _:
                return F.lit(value).cast(target)
    except (ValueError, ArithmeticError) as e:
        raise PlanError(f"the literal {value!r} is no {t}: {e}") from None


def _days(text: str) -> int:
    return date.fromisoformat(text).toordinal() - _EPOCH_DAY


def _nanos_of_day(text: str) -> int:
    match = _CLOCK.fullmatch(text)
    if match is None:
        raise ValueError("a time is HH:MM:SS.fff")
    hour, minute, second = (int(match.group(i)) for i in (1, 2, 3))
    return (hour * 3600 + minute * 60 + second) * 10**9 + int((match.group(4) or "").ljust(9, "0"))


def _timestamp(text: str, t: LogicalType) -> Column:
    day, _, clock = text.replace("T", " ").partition(" ")
    nanos = _nanos_of_day(clock or "00:00:00")
    micros = F.timestamp_micros(F.lit(_days(day) * 86_400_000_000 + nanos // 1000))
    if not has_nanos(t):
        return micros
    return F.struct(micros.alias("micros"), F.lit(nanos % 1000).cast("short").alias("nanos"))

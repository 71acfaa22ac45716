"""Python values as literals of plans."""

from __future__ import annotations

import base64
from decimal import Decimal
from typing import Any

from ..plan.errors import PlanError
from ..plan.rex import Literal, RexNode
from ..plan.types import BIGINT, BOOLEAN, DOUBLE, INT, LogicalType, decimal, sized
from ..planner.rex.builder import convert, fits_integer, null, text
from ..planner.rex.unplanned import Approximate
from .data_types import DataType, logical_type

MILLIS = {
    "WEEK": 604_800_000,
    "DAY": 86_400_000,
    "HOUR": 3_600_000,
    "MINUTE": 60_000,
    "SECOND": 1000,
    "MILLI": 1,
}
MONTHS = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
DAY_TIME = LogicalType("INTERVAL_DAY_TO_SECOND", nullable=False, precision=2, scale=6)
YEAR_MONTH = LogicalType("INTERVAL_YEAR_TO_MONTH", nullable=False, precision=2)


def literal(value: Any, data_type: DataType | None = None) -> RexNode:
    """A Python value as a literal; without a type it has that of the value.

    Raises :class:`PlanError` for a value without a type in SQL.
    """
    if data_type is not None:
        t = logical_type(data_type)
        if value is None:
            return null(t)
        if t.nullable:
            raise PlanError(f"the literal {value!r} is not NULL, but its type {t} may be", hint="add .not_null()")
        given = literal(value)
        if isinstance(value, float) and t.root == "DECIMAL":
            given = literal(Decimal(str(value)))
        return convert(t.not_null(), given)
    if isinstance(value, bool):
        return Literal(value, BOOLEAN.not_null())
    if isinstance(value, int):
        return Literal(value, (INT if fits_integer(value, INT) else BIGINT).not_null())
    if isinstance(value, float):
        return Literal(Approximate(format(Decimal(repr(value)), "f") if value else "0.0"), DOUBLE.not_null())
    if isinstance(value, str):
        return text(value)
    if isinstance(value, (bytes, bytearray)):
        return Literal(base64.b64encode(value).decode(), sized("BINARY", len(value), nullable=False))
    if isinstance(value, Decimal):
        _, digits, exponent = value.as_tuple()
        scale = max(-int(exponent), 0)
        return Literal(format(value, "f"), decimal(max(len(digits), scale), scale, nullable=False))
    hint = "give its type: lit(None, DataTypes.INT())" if value is None else "write it as text, and cast it"
    raise PlanError(f"{value!r} of {type(value).__name__} is no literal", hint=hint)


def interval(unit: str, value: int) -> Literal:
    """An interval of a number of units."""
    if unit in MONTHS:
        return Literal(str(value * MONTHS[unit]), YEAR_MONTH)
    return Literal(str(value * MILLIS[unit]), DAY_TIME)

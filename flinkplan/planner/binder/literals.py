"""Literals and casts."""

from __future__ import annotations

import base64
import datetime as dt
import math
import re
from decimal import Decimal

from ...plan.functions.arithmetic import TIMES
from ...plan.functions.cast import CAST, TRY_CAST, cast_alternative, cast_without_rule
from ...plan.functions.typing import MAX_DECIMAL, in_family
from ...plan.rex import Literal, RexNode
from ...plan.types import BIGINT, BOOLEAN, DATE, DOUBLE, INT, NULL, LogicalType, decimal, timestamp, timestamp_ltz
from ..rex.builder import convert, fits_integer, interval_type, is_constant, is_null_literal, null, text
from ..rex.casts import can_cast
from ..rex.unplanned import Approximate
from ..sql import ast
from .datatypes import resolve_type
from .errors import BindError
from .expressions import ExpressionBinder, binds


@binds(ast.NullLiteral)
def _null(binder: ExpressionBinder, node: ast.NullLiteral) -> RexNode:
    return Literal(None, NULL)


@binds(ast.BooleanLiteral)
def _boolean(binder: ExpressionBinder, node: ast.BooleanLiteral) -> RexNode:
    return Literal(node.value, BOOLEAN.with_nullability(node.value is None))


@binds(ast.StringLiteral)
def _string(binder: ExpressionBinder, node: ast.StringLiteral) -> RexNode:
    return text(node.value)


@binds(ast.BinaryLiteral)
def _binary(binder: ExpressionBinder, node: ast.BinaryLiteral) -> RexNode:
    return Literal(base64.b64encode(node.value).decode(), LogicalType("BINARY", nullable=False, length=len(node.value)))


@binds(ast.NumericLiteral)
def _number(binder: ExpressionBinder, node: ast.NumericLiteral) -> RexNode:
    """A number: INT or BIGINT by its size, DECIMAL with a point, DOUBLE with an exponent."""
    if node.approximate:
        if math.isinf(float(node.text)):
            raise BindError(f"{node.text} is beyond the range of DOUBLE", node.span)
        return Literal(Approximate(node.value or 0), DOUBLE.not_null())  # a zero has neither sign nor digits
    integer_digits, _, fraction = node.text.lstrip("+-").partition(".")
    if not fraction:
        number = int(node.value)
        for t in (INT, BIGINT):
            if fits_integer(number, t):
                return Literal(number, t.not_null())
        raise BindError(
            f"{node.text} is beyond the range of BIGINT", node.span, "write it as a text: CAST('…' AS DECIMAL(38, 0))"
        )
    precision = len(integer_digits) + len(fraction)
    if precision > MAX_DECIMAL:
        raise BindError(f"{node.text} has {precision} digits, a DECIMAL at most {MAX_DECIMAL}", node.span)
    if not fits_integer(int(node.text.replace(".", "")), BIGINT):
        raise BindError(
            f"the digits of {node.text} are beyond the range of BIGINT",
            node.span,
            f"write it as a text: CAST('{node.text}' AS DECIMAL({precision}, {len(fraction)}))",
        )
    return Literal(str(node.value or abs(node.value)), decimal(precision, len(fraction), nullable=False))


_FORMS = {
    "DATE": ("2024-02-29", r"\d{1,4}-\d{1,2}-\d{1,2}"),
    "TIME": ("12:34:56", r"\d{1,2}:\d{1,2}:\d{1,2}(\.\d+)?"),
    "TIMESTAMP": ("2024-02-29 12:34:56.123", r"\d{1,4}-\d{1,2}-\d{1,2} \d{1,2}:\d{1,2}:\d{1,2}(\.\d+)?"),
}


@binds(ast.DateTimeLiteral)
def _date_time(binder: ExpressionBinder, node: ast.DateTimeLiteral) -> RexNode:
    kind = "TIMESTAMP" if node.kind.startswith("TIMESTAMP") else node.kind
    example, form = _FORMS[kind]
    text = node.value.strip()
    if kind == "TIMESTAMP" and re.fullmatch(_FORMS["DATE"][1], text):
        text += " 00:00:00"
    if not re.fullmatch(form, text):
        raise BindError(f"'{node.value}' is not a {kind}", node.span, f"write {kind} '{example}'")
    value, _, fraction = text.partition(".")
    try:
        parsed = _parse(kind, value)
    except ValueError as error:
        raise BindError(f"'{node.value}' is not a {kind}: {error}", node.span) from None
    if kind == "DATE":
        return Literal(parsed, DATE.not_null())
    digits = fraction.rstrip("0")
    value = f"{parsed}.{digits}" if digits else parsed
    if kind == "TIME":
        return Literal(value, LogicalType("TIME", False, precision=len(fraction)))
    make = timestamp_ltz if node.kind == "TIMESTAMP_LTZ" else timestamp
    return Literal(value, make(len(fraction), nullable=False))


def _parse(kind: str, value: str) -> str:
    """The value in two-digit form.  Raises ``ValueError`` for a 30th of February."""
    if kind == "TIME":
        return _time(value)
    day, _, time = value.partition(" ")
    date = dt.date(*map(int, day.split("-"))).isoformat()
    return date if kind == "DATE" else f"{date} {_time(time)}"


def _time(value: str) -> str:
    hour, minute, second = map(int, value.split(":"))
    return dt.time(hour, minute, second).isoformat()


# ---------------------------------------------------------------- intervals

UNIT_MILLIS = {"WEEK": 604_800_000, "DAY": 86_400_000, "HOUR": 3_600_000, "MINUTE": 60_000, "SECOND": 1000}
UNIT_MONTHS = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
_PARTS = ("DAY", "HOUR", "MINUTE", "SECOND")
_EXAMPLES = {
    "YEAR TO MONTH": "1-6",
    "DAY TO SECOND": "1 02:03:04",
    "DAY TO HOUR": "1 02",
    "HOUR TO MINUTE": "1:30",
}


def qualifier_type(qualifier: ast.IntervalQualifier) -> LogicalType:
    """The type of an interval in these units; weeks are days, quarters months."""
    unit = {"WEEK": "DAY", "QUARTER": "MONTH"}.get(qualifier.unit, qualifier.unit)
    return interval_type(unit, qualifier.end_unit, qualifier.precision, qualifier.fraction)


@binds(ast.IntervalLiteral)
def _interval(binder: ExpressionBinder, node: ast.IntervalLiteral) -> RexNode:
    amount = interval_value(node)
    return Literal(str(amount), qualifier_type(node.qualifier).not_null())


_DIGITS = 2
"""The default precision of the first unit of an INTERVAL.  Source: ``DEFAULT_INTERVAL_START_PRECISION``."""


def interval_value(node: ast.IntervalLiteral) -> int:
    """Milliseconds, or months of an interval of years and months."""
    text_ = node.value.strip()
    sign = -1 if node.negative else 1
    if text_[:1] in "+-" and text_:
        sign, text_ = (-sign if text_[0] == "-" else sign), text_[1:]
    unit, end_unit, most = node.qualifier.unit, node.qualifier.end_unit, node.qualifier.precision or _DIGITS
    if (lead := re.match(r"0*(\d*)", text_)) and (digits := len(lead[1])) > most:
        raise BindError(f"'{node.value}' has more digits than {unit}({most})", node.span, f"write {unit}({digits})")
    try:
        return sign * _amount(text_, unit, end_unit)
    except (ValueError, ArithmeticError):
        units = unit if end_unit is None else f"{unit} TO {end_unit}"
        hint = f"write INTERVAL '{_EXAMPLES.get(units, '5')}' {units}"
        raise BindError(f"'{node.value}' is not an interval of {units}", node.span, hint) from None


def _amount(value: str, unit: str, end_unit: str | None) -> int:
    if unit in UNIT_MONTHS:
        if end_unit is None or end_unit == unit:
            return int(value) * UNIT_MONTHS[unit]
        years, months = value.split("-")
        return int(years) * 12 + int(months)
    if end_unit is None or end_unit == unit:
        return int(Decimal(value) * 1000) if unit == "SECOND" else int(value) * UNIT_MILLIS[unit]
    units = _PARTS[_PARTS.index(unit) : _PARTS.index(end_unit) + 1]
    parts = re.split(r"[ :]", value)
    if len(parts) != len(units):
        raise ValueError(value)
    return sum(int(Decimal(p) * UNIT_MILLIS[u]) for p, u in zip(parts, units, strict=True))


@binds(ast.IntervalExpression)
def _interval_expression(binder: ExpressionBinder, node: ast.IntervalExpression) -> RexNode:
    """``INTERVAL n DAY`` is ``INTERVAL '1' DAY * n``."""
    operand = binder.bind(node.operand)
    if not in_family(operand.type, "NUMERIC"):
        raise BindError(f"an interval counts units, this is of type {operand.type.nullable_()}", node.operand.span)
    if isinstance(operand, Literal) and isinstance(operand.value, int):
        unit = node.qualifier.unit
        scale = UNIT_MONTHS.get(unit) or UNIT_MILLIS[unit]
        return Literal(str(operand.value * scale), qualifier_type(node.qualifier).not_null())
    return TIMES.call(unit_interval(node.qualifier), operand)


def unit_interval(qualifier: ast.IntervalQualifier) -> Literal:
    """One unit, as an interval."""
    unit = qualifier.unit
    amount = UNIT_MONTHS.get(unit) or UNIT_MILLIS[unit]
    return Literal(str(amount), qualifier_type(qualifier).not_null())


# ---------------------------------------------------------------- casts


@binds(ast.Cast)
def _cast(binder: ExpressionBinder, node: ast.Cast) -> RexNode:
    operand = binder.bind(node.operand)
    target = resolve_type(node.type)
    unruled = cast_without_rule(operand.type, target)
    if not can_cast(operand.type, target) or (unruled and is_constant(operand)):
        raise BindError(
            f"a value of type {operand.type.regular().nullable_()} cannot be cast to {target.nullable_()}",
            node.span,
            cast_alternative(*unruled) if unruled else None,
        )
    if is_null_literal(operand):
        return null(target)
    if node.safe:
        if operand.type == target.nullable_():
            return operand
        return TRY_CAST.typed(target.nullable_(), operand)
    target = target.with_nullability(operand.type.nullable)
    if binder.keeps_as_written and operand.type == target:
        return CAST.typed(target, operand)
    return convert(target, operand, explicit=True)

"""Constant folding.  Source: Flink's ``ExpressionReducer``.

A call of constants becomes a literal where its value can be computed here exactly as Flink would; any other
call is left, which costs nothing but a plan that differs from Flink's in text.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import localcontext
from typing import Any

from ...plan.functions import Function, called, is_deterministic
from ...plan.functions.arithmetic import (
    DATETIME_MINUS,
    DATETIME_PLUS,
    DIVIDE,
    DIVIDE_INTEGER,
    MINUS,
    NEGATE,
    PLUS,
    TIMES,
)
from ...plan.functions.cast import CAST, REINTERPRET
from ...plan.functions.comparison import EQ, GE, GT, LE, LT, NE
from ...plan.functions.java import JavaFunction, UnknownValueError
from ...plan.functions.string import CONCAT_OPERATOR
from ...plan.functions.typing import is_year_month
from ...plan.rex import Call, Literal, RexNode
from ...plan.types import (
    APPROXIMATE,
    BINARY_STRING,
    CHARACTER,
    DATETIME,
    INTEGER_BITS,
    INTEGERS,
    NUMERIC,
    LogicalType,
)
from ..errors import PlanningError
from .evaluation import EVALUATORS, limits
from .evaluation.collections import collection_value, is_collection
from .evaluation.numbers import double_text, fits_decimal, number, rounded_decimal, to_single
from .evaluation.registry import UnknownValue, from_values
from .evaluation.time_texts import moment_text, read_moment, read_time
from .evaluation.times import months_between, parse_moment, shift_clock, shift_months
from .exact import DIVISION, EXACT
from .expressions import cast
from .unplanned import Approximate


def fold(call: Call) -> RexNode:
    """The literal for a call of literals, if its value is known exactly, else the call."""
    function = called(call)
    if function is CAST and call.operands[0].type == call.type.not_null():
        return call
    literals = [o for o in call.operands if type(o) is Literal]
    if len(literals) == len(call.operands) - 1 and is_collection(call.operands[0]):
        return _evaluated(call, collection_value, call.operands)
    if function in _ARITHMETIC and call.type.nullable and any(o.value is None for o in literals):
        return Literal(None, call.type)
    if len(literals) < len(call.operands) or not is_deterministic(call):
        return call
    if function is None:
        return call
    if isinstance(function, JavaFunction):
        return _of_java(call, function, literals)
    rule = _RULES.get(function) or EVALUATORS.get(function.name)
    if rule is None:
        return call
    if not function.sees_null and any(o.value is None for o in literals):
        return Literal(None, call.type) if call.type.nullable else call
    return _evaluated(call, rule, literals)


_LITERALS = frozenset((*NUMERIC, *CHARACTER, *BINARY_STRING, *DATETIME, "BOOLEAN"))
"""The types of constants that plans have as literals."""


def _of_java(call: Call, function: JavaFunction, operands: Sequence[Literal]) -> RexNode:
    """The value that the function itself gives for constants.  Source: ``ExpressionReducer``."""
    declaration = function.declaration
    if declaration.answers is None or not declaration.folds_constants or declaration.is_async:
        return call
    if any(t.root not in _LITERALS for t in (call.type, *(o.type for o in operands if o.value is not None))):
        return call
    try:
        value = declaration.answers.value(declaration.class_name, operands, call.type)
    except UnknownValueError:
        return call
    if value is None:
        return Literal(None, call.type) if call.type.nullable else call
    return cast(Literal(value, call.type.not_null()), call.type)


def _evaluated(call: Call, rule: Callable[..., Any], operands: Sequence[RexNode]) -> RexNode:
    try:
        with localcontext(EXACT):
            value = rule(call, *operands)
            if value is None:
                return Literal(None, call.type) if call.type.nullable else call
            value = _write(value, call.type)
        if isinstance(value, str):
            limits.length(len(value))
    except (UnknownValue, ArithmeticError, ValueError, OverflowError, TypeError):
        return call
    t = call.type.regular()  # a constant is no time attribute, though it is compared with one
    return cast(Literal(value, t.not_null()), t)


def _write(value: Any, t: LogicalType) -> Any:
    if t.root in INTEGERS:
        integer = int(value)
        bits = INTEGER_BITS[t.root]
        return (integer + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))
    if t.root == "DECIMAL":
        if not fits_decimal(value, t):
            raise UnknownValue
        rounded = rounded_decimal(value, t)
        return format(rounded or abs(rounded), "f")
    if t.root in APPROXIMATE and isinstance(value, str):
        return Approximate(value)
    if t.root in APPROXIMATE:
        return Approximate(double_text(float(value)))
    return value


def _arithmetic(operation: Callable[[Any, Any], Any], shift: Callable[..., Any] | None = None) -> Callable[..., Any]:
    def apply(call: Call, left: Literal, right: Literal) -> Any:
        if shift is not None and call.type.root in _MOMENTS:
            return shift(call, left, right)
        if call.type.root.startswith("INTERVAL"):
            return str(operation(_amount(left), _amount(right)))
        if call.type.root in APPROXIMATE:
            return operation(float(number(left)), float(number(right)))
        return operation(number(left), number(right))

    return apply


def _amount(literal: Literal) -> int:
    """A factor of an interval, or an interval's milliseconds or months."""
    if not literal.type.root.startswith("INTERVAL") and literal.type.root not in INTEGERS:
        raise UnknownValue
    return int(literal.value)


def _divide(call: Call, left: Literal, right: Literal) -> Any:
    if number(right) == 0 and "DECIMAL" not in (left.type.root, right.type.root):
        raise PlanningError("division by zero", hint="NULLIF(…, 0) makes the divisor NULL where it is 0")
    if call.type.root == "DOUBLE" and "FLOAT" not in (left.type.root, right.type.root) and number(right) != 0:
        return float(number(left)) / float(number(right))
    if number(right) == 0 or any(o.type.root not in (*INTEGERS, "DECIMAL") for o in (left, right)):
        raise UnknownValue
    if call.type.root in INTEGERS:
        return math.trunc(number(left) / number(right))
    return DIVISION.divide(number(left), number(right))


def _negate(call: Call, operand: Literal) -> Any:
    return str(-_amount(operand)) if call.type.root.startswith("INTERVAL") else -number(operand)


def _shift_time(sign: int) -> Callable[..., Any]:
    def apply(call: Call, left: Literal, right: Literal) -> Any:
        if call.type.root.startswith("INTERVAL"):
            return str(_distance(left, right, in_months=is_year_month(call.type)))
        interval, moment = (left, right) if left.type.root.startswith("INTERVAL") else (right, left)
        if not interval.type.root.startswith("INTERVAL") or call.type.root not in ("TIME", *_MOMENTS):
            raise UnknownValue
        amount = sign * int(interval.value)
        if call.type.root == "TIME":
            return shift_clock(str(moment.value), amount)
        parsed = parse_moment(str(moment.value))
        if "MONTH" in interval.type.root or "YEAR" in interval.type.root:
            shifted = shift_months(parsed, amount)
        else:
            shifted = parsed + timedelta(milliseconds=amount)
        return moment_text(shifted, call.type)

    return apply


def _distance(end: Literal, start: Literal, *, in_months: bool) -> int:
    """The months or milliseconds between two moments."""
    are_instants = {o.type.root == "TIMESTAMP_LTZ" for o in (end, start)}
    if any(o.type.root not in _MOMENTS for o in (end, start)) or len(are_instants) > 1:
        raise UnknownValue
    moments = parse_moment(end.value), parse_moment(start.value)
    return months_between(*moments) if in_months else (moments[0] - moments[1]) // timedelta(milliseconds=1)


def _reinterpret(call: Call, interval: Literal) -> int:
    if call.type.root != "BIGINT" or not interval.type.root.startswith("INTERVAL"):
        raise UnknownValue
    return int(interval.value)


def _compare(operation: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    def apply(call: Call, left: Literal, right: Literal) -> Any:
        roots = {left.type.root, right.type.root}
        if roots <= {*INTEGERS, "DECIMAL", *APPROXIMATE}:
            approximate = not roots.isdisjoint(APPROXIMATE)
            return operation(*map(_double if approximate else number, (left, right)))
        if len(roots) == 2 and not roots.isdisjoint(CHARACTER) and not roots.isdisjoint(_TIMES):
            left, right = _alike(left, right), _alike(right, left)
            roots = {left.type.root}
        if all(root.startswith("INTERVAL") for root in roots) and is_year_month(left.type) == is_year_month(right.type):
            return operation(_amount(left), _amount(right))
        if roots <= {*CHARACTER} or (len(roots) == 1 and roots <= {"TIME", "BOOLEAN", *_MOMENTS}):
            return operation(left.value, right.value)
        raise UnknownValue

    return apply


def _double(literal: Literal) -> float:
    """A number as a DOUBLE, in which a FLOAT has other digits than it is written with."""
    value = float(number(literal))
    return to_single(value) if literal.type.root == "FLOAT" else value


def _alike(literal: Literal, other: Literal) -> Literal:
    """A text literal that is compared with a date or time, as a literal of that type.

    Raises :class:`PlanningError` where it is none.
    """
    if literal.type.root not in CHARACTER:
        return literal
    to = other.type.not_null()
    read = (read_time if to.root == "TIME" else read_moment)(literal.value, to)
    if read is None:
        raise PlanningError(f"'{literal.value}' is no {to.root} to compare with one")
    return Literal(read, to)


_TIMES = ("DATE", "TIME", "TIMESTAMP")
_MOMENTS = ("DATE", "TIMESTAMP", "TIMESTAMP_LTZ")

_ARITHMETIC = (PLUS, MINUS, TIMES, DIVIDE)
"""Functions that are NULL where an operand is NULL."""

_RULES: dict[Function, Callable[..., Any]] = {
    PLUS: _arithmetic(operator.add, _shift_time(1)),
    MINUS: _arithmetic(operator.sub, _shift_time(-1)),
    TIMES: _arithmetic(operator.mul),
    DIVIDE: _divide,
    DIVIDE_INTEGER: _divide,
    REINTERPRET: _reinterpret,
    NEGATE: _negate,
    CONCAT_OPERATOR: from_values(operator.add),
    DATETIME_PLUS: _shift_time(1),
    DATETIME_MINUS: _shift_time(-1),
    EQ: _compare(operator.eq),
    NE: _compare(operator.ne),
    LT: _compare(operator.lt),
    LE: _compare(operator.le),
    GT: _compare(operator.gt),
    GE: _compare(operator.ge),
}

"""The arithmetic operators on numbers and intervals.

Integers wrap around, decimals are NULL where the result does not fit, division by zero fails but for
FLOAT and DOUBLE, and a result has exactly the type that the plan says.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...plan.functions.model import BINARY, PREFIX, SPECIAL
from ...plan.functions.typing import MAX_DECIMAL
from ...plan.types import APPROXIMATE, INTEGERS, LogicalType, decimal
from ..jvm.spark import F, T
from ..jvm.types import cast_type, spark_type
from .intervals import is_shift, shift
from .jvm import invoke
from .registry import Invocation, scalar

if TYPE_CHECKING:
    from pyspark.sql import Column

_INTEGER_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}


def as_decimal(column: Column, t: LogicalType) -> Column:
    """An integer column as the decimal that holds all its values; a decimal as it is."""
    if t.root in _INTEGER_DIGITS:
        return column.cast(cast_type(decimal(_INTEGER_DIGITS[t.root], 0)))
    return column


_COMPACT, _EXACT_IN_DOUBLE = 18, 15


def as_double(column: Column, t: LogicalType) -> Column:
    """A numeric column as DOUBLE."""
    if t.root == "DECIMAL" and _EXACT_IN_DOUBLE < (t.precision or 0) <= _COMPACT:
        return invoke("Numbers.toDouble", T.DoubleType(), column)
    return column.cast("double")


def as_approximate(column: Column, source: LogicalType, target: LogicalType) -> Column:
    """A numeric column as FLOAT or DOUBLE; a decimal becomes a DOUBLE first."""
    return (as_double(column, source) if source.root == "DECIMAL" else column).cast(cast_type(target))


def operands_for(call: Invocation, *operands: Column) -> tuple[Column, ...]:
    """The operands in the type in which the result is computed."""
    result = call.type
    if result.root == "DECIMAL":
        return tuple(as_decimal(o, t) for o, t in zip(operands, call.types, strict=True))
    if result.root == "FLOAT" and any(t.root == "DOUBLE" for t in call.types):
        return tuple(as_double(o, t) for o, t in zip(operands, call.types, strict=True))
    if result.root in APPROXIMATE:
        return tuple(as_approximate(o, t, result) for o, t in zip(operands, call.types, strict=True))
    return tuple(o.cast(cast_type(result)) for o in operands)


def _operator(
    name: str, apply: Callable[[Column, Column], Column], method: str, digits: Callable[[LogicalType, LogicalType], int]
) -> None:
    """``method``: the kernel for decimals whose exact result has more ``digits`` than Spark computes with."""

    @scalar(name, syntax=BINARY)
    def build(call: Invocation, a: Column, b: Column) -> Column:
        if is_shift(call):
            return shift(call, a, b, -1 if apply is operator.sub else 1)
        left, right = operands_for(call, a, b)
        result = call.type
        if result.root == "DECIMAL" and digits(*map(decimal_type, call.types)) > MAX_DECIMAL:
            return invoke(method, spark_type(result), left, right, *precision_of(result))
        return apply(left, right).cast(cast_type(result))


def decimal_type(t: LogicalType) -> LogicalType:
    """The type of :func:`as_decimal`."""
    return decimal(_INTEGER_DIGITS[t.root], 0) if t.root in _INTEGER_DIGITS else t


def digits_of_both(left: LogicalType, right: LogicalType) -> int:
    """How many digits a decimal type needs that holds all the values of two others."""
    whole = max((t.precision or 0) - (t.scale or 0) for t in (left, right))
    return whole + max(left.scale or 0, right.scale or 0)


def _digits_of_sum(left: LogicalType, right: LogicalType) -> int:
    return digits_of_both(left, right) + 1


def _digits_of_product(left: LogicalType, right: LogicalType) -> int:
    return (left.precision or 0) + (right.precision or 0) + 1


_operator("$+$1", operator.add, "Numbers.add", _digits_of_sum)
_operator("$-$1", operator.sub, "Numbers.subtract", _digits_of_sum)
_operator("$*$1", operator.mul, "Numbers.multiply", _digits_of_product)


def _by_kernel(name: str, call: Invocation, a: Column, b: Column) -> Column:
    """The kernel of a division or remainder: ``name`` with the kind of its operands put in."""
    left, right = operands_for(call, a, b)
    result = call.type
    if result.root == "DECIMAL":
        return invoke(name.format("Decimals"), spark_type(result), left, right, *precision_of(result))
    if result.root in APPROXIMATE:
        kind = "Floats" if all(t.root != "DOUBLE" for t in (*call.types, result)) else "Doubles"
        held = T.FloatType() if kind == "Floats" else T.DoubleType()
        return invoke(name.format(kind), held, left, right).cast(cast_type(result))
    return invoke(name.format("Integers"), T.LongType(), a, b).cast(cast_type(result))


def precision_of(t: LogicalType) -> tuple[Column, Column]:
    """A decimal type's precision and scale, as operands of a kernel."""
    return F.lit(t.precision), F.lit(t.scale)


@scalar("$/$1", "$/INT$1", syntax=BINARY, kernel=True)
def divide(call: Invocation, a: Column, b: Column) -> Column:
    """``a / b``; between integers truncated towards zero."""
    return _by_kernel("Numbers.divide{}", call, a, b)


@scalar("$MOD$1", kernel=True)
def mod(call: Invocation, a: Column, b: Column) -> Column:
    """The remainder of ``a / b``, with the sign of ``a``."""
    return _by_kernel("Numbers.remainderOf{}", call, a, b)


@scalar("$-$1", syntax=PREFIX)
def negate(call: Invocation, a: Column) -> Column:
    """``-a``."""
    return _exactly("Numbers.negate", operator.neg, call.type, a)


@scalar("$ABS$1")
def absolute(call: Invocation, a: Column) -> Column:
    """``a`` without its sign."""
    return _exactly("Numbers.abs", F.abs, call.type, a)


_SPARK_NEGATES = 34
"""The most digits of a decimal that Spark can change the sign of."""


def _exactly(method: str, native: Callable[[Column], Column], t: LogicalType, a: Column) -> Column:
    if t.root == "DECIMAL" and (t.precision or 0) > _SPARK_NEGATES:
        return invoke(method, spark_type(t), a, *precision_of(t))
    return native(a)


@scalar("$REINTERPRET$1", syntax=SPECIAL)
def reinterpret(call: Invocation, a: Column) -> Column:
    """The same value under another type that is held alike."""
    return a.cast(cast_type(call.type)) if call.type.root in INTEGERS else a

"""Mathematical functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...plan.types import INTEGERS
from ..spark import F, T
from ..types import cast_type, spark_type
from .arithmetic import precision_of
from .jvm import invoke
from .registry import Invocation, kernel, native, scalar

if TYPE_CHECKING:
    from pyspark.sql import Column

native("$ABS$1", F.abs)
native("$POWER$1", F.pow)
native("$SIN$1", F.sin)
native("$COS$1", F.cos)
native("$TAN$1", F.tan)
native("$COT$1", F.cot)
native("$ASIN$1", F.asin)
native("$ACOS$1", F.acos)
native("$ATAN$1", F.atan)
native("$ATAN2$1", F.atan2)
native("$SINH$1", F.sinh)
native("$COSH$1", F.cosh)
native("$TANH$1", F.tanh)
native("$DEGREES$1", F.degrees)
native("$RADIANS$1", F.radians)
native("$PI$1", F.pi)
native("$E$1", F.e)
native("$BIN$1", F.bin)
native("$UUID$1", F.uuid)
kernel("$EXP$1", "Numbers.exp")
kernel("$LN$1", "Numbers.ln")
kernel("$LOG10$1", "Numbers.log10")
kernel("$LOG2$1", "Numbers.log2")


@scalar("$LOG$1", kernel=True)
def log(call: Invocation, *operands: Column) -> Column:
    """LOG(x), the natural logarithm, or LOG(base, x)."""
    return invoke("Numbers.ln" if len(operands) == 1 else "Numbers.log", spark_type(call.type), *operands)


@scalar("$SIGN$1")
def sign(call: Invocation, a: Column) -> Column:
    """-1, 0 or 1, in the type of the operand."""
    return F.signum(a).cast(cast_type(call.type))


def _to_integer(call: Invocation, a: Column, of_double: str, of_decimal: Callable[[Column], Column]) -> Column:
    operand = call.types[0]
    if operand.root in INTEGERS:
        return a
    if operand.root == "DECIMAL":
        return of_decimal(a).cast(cast_type(call.type))
    return invoke(of_double, T.DoubleType(), a).cast(cast_type(call.type))


def ceil_number(call: Invocation, a: Column) -> Column:
    """The least integer not below ``a``, in the type of ``a``."""
    return _to_integer(call, a, "Numbers.ceil", F.ceil)


def floor_number(call: Invocation, a: Column) -> Column:
    """The greatest integer not above ``a``, in the type of ``a``."""
    return _to_integer(call, a, "Numbers.floor", F.floor)


def _to_digits(verb: str, call: Invocation, a: Column, digits: Column | None) -> Column:
    kept, result = F.lit(0) if digits is None else digits, spark_type(call.type)
    operand = call.types[0].root
    if operand == "DECIMAL":
        return invoke(f"Numbers.{verb}Decimal", result, a, kept, *precision_of(call.type))
    if operand in INTEGERS:
        return invoke(f"Numbers.{verb}Integer", T.LongType(), a, kept).cast(result)
    return invoke(f"Numbers.{verb}Double", T.DoubleType(), a, kept).cast(result)


@scalar("$ROUND$1", kernel=True)
def round_(call: Invocation, a: Column, digits: Column | None = None) -> Column:
    """``a`` to so many decimal digits, half away from zero."""
    return _to_digits("round", call, a, digits)


@scalar("$TRUNCATE$1", kernel=True)
def truncate(call: Invocation, a: Column, digits: Column | None = None) -> Column:
    """``a`` to so many decimal digits, towards zero."""
    return _to_digits("truncate", call, a, digits)


@scalar("$RAND$1")
def rand(call: Invocation, seed: Column | None = None) -> Column:
    """A random number from 0 to 1; the sequence of a seed is Spark's, not Flink's."""
    return F.rand() if seed is None else F.rand(call.constant(0))


@scalar("$RAND_INTEGER$1")
def rand_integer(call: Invocation, *operands: Column) -> Column:
    """RAND_INTEGER([seed,] bound): a random integer below the bound."""
    random = F.rand() if len(operands) == 1 else F.rand(call.constant(0))
    return F.floor(random * operands[-1]).cast("int")

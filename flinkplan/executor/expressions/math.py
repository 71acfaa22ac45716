"""Mathematical functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...plan.types import INTEGERS
from ..jvm.spark import F, T
from ..jvm.types import cast_type, spark_type
from .arithmetic import as_double, precision_of
from .jvm import invoke
from .registry import Invocation, native, scalar

if TYPE_CHECKING:
    from pyspark.sql import Column

native("$PI$1", F.pi)
native("$E$1", F.e)
native("$BIN$1", F.bin)
native("$UUID$1", F.uuid)


def _of_doubles(name: str, function: Callable[..., Column], kernel: bool = False) -> None:
    """Register a function of numbers that is computed with DOUBLEs."""

    @scalar(f"${name}$1", kernel=kernel)
    def build(call: Invocation, *operands: Column) -> Column:
        return function(*map(as_double, operands, call.types))


def _by_java(method: str) -> Callable[..., Column]:
    return lambda *operands: invoke(method, T.DoubleType(), *operands)


_OF_DOUBLES: dict[str, Callable[..., Column]] = {
    "POWER": F.pow,
    "SIN": F.sin,
    "COS": F.cos,
    "TAN": F.tan,
    "COT": F.cot,
    "ASIN": F.asin,
    "ACOS": F.acos,
    "ATAN": F.atan,
    "ATAN2": F.atan2,
    "SINH": F.sinh,
    "COSH": F.cosh,
    "TANH": F.tanh,
    "DEGREES": F.degrees,
    "RADIANS": F.radians,
}
for _name, _function in _OF_DOUBLES.items():
    _of_doubles(_name, _function)

for _name in ("exp", "ln", "log10", "log2"):
    _of_doubles(_name.upper(), _by_java(f"Numbers.{_name}"), kernel=True)


@scalar("$LOG$1", kernel=True)
def log(call: Invocation, *operands: Column) -> Column:
    """LOG(x), the natural logarithm, or LOG(base, x)."""
    method = "Numbers.ln" if len(operands) == 1 else "Numbers.log"
    return invoke(method, spark_type(call.type), *map(as_double, operands, call.types))


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
    """A random number from 0 to 1; the sequence of a seed is Spark's, the first number of a row's own seed Flink's."""
    if seed is None or call.is_literal(0):
        return F.rand() if seed is None else F.rand(call.constant(0))
    return invoke("Numbers.random", T.DoubleType(), seed)


@scalar("$RAND_INTEGER$1")
def rand_integer(call: Invocation, *operands: Column) -> Column:
    """RAND_INTEGER([seed,] bound): a random integer below the bound."""
    if len(operands) > 1 and not call.is_literal(0):
        return invoke("Numbers.randomInteger", T.IntegerType(), *operands)
    random = F.rand() if len(operands) == 1 else F.rand(call.constant(0))
    return F.floor(random * operands[-1]).cast("int")

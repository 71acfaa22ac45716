"""Arithmetic operators and mathematical functions."""

from __future__ import annotations

from collections.abc import Callable

from ..types import DOUBLE, INT, LogicalType, decimal, string
from .model import BINARY, PREFIX, SPECIAL, Arguments, LocalTime, Pushing, ReturnRule, Style
from .registry import declare
from .rules import always, argument, common, if_null, like_others, null_in_null_out, signature
from .typing import (
    MAX_DECIMAL,
    decimal_product,
    decimal_quotient,
    decimal_remainder,
    decimal_sum,
    is_exact_decimal_pair,
    is_interval,
    least_restrictive,
)

_NUMBERS = signature("NUMERIC", "NUMERIC")
_INTERVALS = signature("INTERVAL", "INTERVAL")


def _arithmetic(of_decimals: Callable[[LogicalType, LogicalType], LogicalType]) -> ReturnRule:
    """Decimals have their own rule, an interval stays an interval, other types become the least restrictive type."""

    def rule(args: Arguments) -> LogicalType:
        a, b = args.types
        if is_exact_decimal_pair(a, b):
            return of_decimals(a, b).with_nullability(args.any_nullable)
        if is_interval(a) != is_interval(b):
            return (a if is_interval(a) else b).with_nullability(args.any_nullable)
        return (least_restrictive(args.types) or a).with_nullability(args.any_nullable)

    return rule


PLUS, MINUS = (
    declare(
        sign,
        (_NUMBERS, _INTERVALS),
        _arithmetic(decimal_sum),
        syntax=BINARY,
        named=False,
        strict=True,
        commutes=sign == "+",
        safe=True,
        local_time=LocalTime.NEVER,
        style=Style.INFIX,
    )
    for sign in ("+", "-")
)
TIMES = declare(
    "*",
    (_NUMBERS, signature("INTERVAL", "NUMERIC"), signature("NUMERIC", "INTERVAL")),
    _arithmetic(decimal_product),
    syntax=BINARY,
    named=False,
    strict=True,
    commutes=True,
    safe=True,
    style=Style.INFIX,
)
_DIVIDED = (_NUMBERS, signature("INTERVAL", "NUMERIC"))
DIVIDE = declare(
    "/", _DIVIDED, _arithmetic(decimal_quotient), syntax=BINARY, named=False, strict=True, style=Style.INFIX
)
DIVIDE_INTEGER = declare("/INT", _DIVIDED, _arithmetic(decimal_quotient), syntax=BINARY, named=False, style=Style.INFIX)
NEGATE = declare(
    "-",
    (signature("NUMERIC"), signature("INTERVAL")),
    argument(0),
    syntax=PREFIX,
    named=False,
    strict=True,
    safe=True,
    local_time=LocalTime.NEVER,
)


def _datetime_sum(args: Arguments) -> LogicalType:
    """The type of a datetime plus or minus an interval; a DATE stays a DATE even with an interval of hours."""
    time = next(t for t in args.types if not is_interval(t))
    return time.regular().with_nullability(args.any_nullable)


_MOVED = (signature("DATETIME", "INTERVAL"), signature("INTERVAL", "DATETIME"))
DATETIME_PLUS, DATETIME_MINUS = (
    declare(
        sign,
        signatures,
        _datetime_sum,
        syntax=SPECIAL,
        named=False,
        strict=True,
        safe=True,
        local_time=LocalTime.NEVER,
        style=Style.INFIX,
    )
    for sign, signatures in (("+", _MOVED), ("-", (*_MOVED, signature("DATETIME", "DATETIME"))))
)


def _remainder(args: Arguments) -> LogicalType:
    """The type of the divisor if no operand has decimals, as in the SQL standard."""
    a, b = args.types
    has_decimals = is_exact_decimal_pair(a, b) and (a.scale or b.scale)
    result = decimal_remainder(a, b) if has_decimals else b
    return result.with_nullability(args.any_nullable)


MOD = declare("MOD", signature("EXACT", "EXACT"), _remainder)


def _rounded(args: Arguments) -> LogicalType:
    """ROUND and TRUNCATE of a decimal keep the given number of decimals, with one more digit before the point."""
    t = args.types[0]
    digits = args.literal(1) if len(args) > 1 else 0
    if t.root == "DECIMAL" and isinstance(digits, int) and digits < (t.scale or 0):
        whole = 1 + (t.precision or 10) - (t.scale or 0)
        scale = max(digits, 0)
        t = decimal(min(whole + scale, MAX_DECIMAL), scale)
    return t.with_nullability(args.any_nullable)


_ROUNDING = (signature("NUMERIC", "INTEGER"), signature("NUMERIC"))
ROUND = declare("ROUND", _ROUNDING, _rounded)
TRUNCATE = declare("TRUNCATE", _ROUNDING, _rounded)


def _whole(args: Arguments) -> LogicalType:
    """FLOOR and CEIL: the result for a decimal has scale 0, a datetime keeps its type."""
    t = args.types[0].regular()
    return decimal(t.precision or 10, 0, t.nullable) if t.root == "DECIMAL" else t


_FLOOR = (signature("NUMERIC"), signature("DATETIME", "SYMBOL"))
FLOOR = declare("FLOOR", _FLOOR, _whole, strict=True, safe=True)
CEIL = declare("CEIL", _FLOOR, _whole, aliases=("CEILING",), strict=True, safe=True)

ABS = declare("ABS", (signature("NUMERIC"), signature("INTERVAL")), argument(0))
SIGN = declare("SIGN", signature("NUMERIC"), argument(0))

for _name in [
    "EXP",
    "LN",
    "LOG10",
    "LOG2",
    "SIN",
    "COS",
    "TAN",
    "COT",
    "ASIN",
    "ACOS",
    "ATAN",
    "SINH",
    "COSH",
    "TANH",
    "DEGREES",
    "RADIANS",
]:
    declare(_name, signature("NUMERIC"), if_null(DOUBLE))
POWER = declare("POWER", _NUMBERS, if_null(DOUBLE))
declare("ATAN2", _NUMBERS, if_null(DOUBLE))
declare("LOG", (signature("NUMERIC"), _NUMBERS), if_null(DOUBLE))
declare("PI", signature(), always(DOUBLE.not_null()))
declare("E", signature(), always(DOUBLE.not_null()))
declare("RAND", (signature(), signature("NUMERIC")), if_null(DOUBLE), deterministic=False)
declare(
    "RAND_INTEGER",
    (signature("NUMERIC"), _NUMBERS),
    if_null(INT),
    deterministic=False,
    pushing=Pushing.BY_ANOTHER,
)
declare("BIN", signature("INTEGER"), if_null(string()))
declare("HEX", (signature("INTEGER"), signature("CHARACTER")), if_null(string()))

_EXTREME = signature(like_others(), rest=like_others())
declare("GREATEST", _EXTREME, null_in_null_out(common), bridged=True)
declare("LEAST", _EXTREME, null_in_null_out(common), bridged=True)

"""Constant calls of mathematical functions.

DOUBLE results are texts of the exact binary value, as ``new BigDecimal(double)`` prints them.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from typing import Any

from ....plan.functions.typing import MAX_DECIMAL
from ....plan.rex import Call, Literal
from ....plan.types import APPROXIMATE, INTEGERS, LogicalType
from .registry import UnknownValue, evaluator

_NUMERIC = (*INTEGERS, "DECIMAL", *APPROXIMATE)


_WIDE = Context(prec=4 * MAX_DECIMAL)


def number(literal: Literal) -> Decimal:
    """The value of a numeric literal.  Raises :class:`UnknownValue` for others."""
    if literal.type.root not in _NUMERIC:
        raise UnknownValue
    return Decimal(str(literal.value))


def rounded_decimal(value: Any, t: LogicalType) -> Decimal:
    """A number rounded to the scale of the DECIMAL type ``t``."""
    return Decimal(value).quantize(Decimal(1).scaleb(-(t.scale or 0)), ROUND_HALF_UP, _WIDE)


def fits_decimal(value: Any, t: LogicalType) -> bool:
    """Whether a rounded number fits into the DECIMAL type ``t``."""
    return Decimal(value).adjusted() < 2 * MAX_DECIMAL and (
        len(rounded_decimal(value, t).as_tuple().digits) <= (t.precision or MAX_DECIMAL)
    )


def double_text(value: float) -> str:
    """A DOUBLE as the plan writes it: zero has no sign."""
    if not math.isfinite(value):
        raise UnknownValue
    return str(Decimal(value or 0))


def to_single(value: float) -> float:
    """The DOUBLE value of the FLOAT nearest to a number."""
    return float(struct.unpack("f", struct.pack("f", value))[0])


def java_float(value: float, single: bool = False) -> str:
    """``Double.toString``, or ``Float.toString`` of a ``single`` one: the shortest digits that identify the value."""
    text = repr(value)
    if single:
        narrow = to_single(value)
        texts = (f"{narrow:.{digits}g}" for digits in range(1, 10))
        text = repr(float(next(t for t in texts if to_single(float(t)) == narrow)))
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return text
    sign, digits, _ = Decimal(text).normalize().as_tuple()
    first, *rest = map(str, digits)
    return f"{'-' if sign else ''}{first}.{''.join(rest) or '0'}E{Decimal(text).adjusted()}"


def _double(function: Callable[..., float]) -> Callable[..., Any]:
    def evaluate(call: Call, *literals: Literal) -> Any:
        return double_text(function(*(float(number(literal)) for literal in literals)))

    return evaluate


def _log(base: float, operand: float) -> float:
    return math.log(operand) / (math.log(base) if base else -math.inf)


_DOUBLE_FUNCTIONS: dict[str, Callable[..., float]] = {
    "POWER": math.pow,
    "LN": math.log,
    "LOG10": math.log10,
    "LOG2": math.log2,
    "EXP": math.exp,
    "SIN": math.sin,
    "COS": math.cos,
    "TAN": math.tan,
    "COT": lambda x: 1 / math.tan(x),
    "ASIN": math.asin,
    "ACOS": math.acos,
    "ATAN": math.atan,
    "ATAN2": math.atan2,
    "SINH": math.sinh,
    "COSH": math.cosh,
    "TANH": math.tanh,
    "DEGREES": math.degrees,
    "RADIANS": math.radians,
    "PI": lambda: math.pi,
    "E": lambda: math.e,
}
for _name, _function in _DOUBLE_FUNCTIONS.items():
    evaluator(_name)(_double(_function))


def _exact(function: Callable[..., Decimal]) -> Callable[..., Decimal]:
    def evaluate(call: Call, *literals: Literal) -> Decimal:
        return function(*map(number, literals))

    return evaluate


evaluator("ABS")(_exact(abs))
evaluator("GREATEST")(_exact(lambda *values: max(values)))
evaluator("LEAST")(_exact(lambda *values: min(values)))


@evaluator("LOG")
def _logarithm(call: Call, *literals: Literal) -> str:
    values = [float(number(literal)) for literal in literals]
    return double_text(math.log(values[0]) if len(values) == 1 else _log(values[0], values[1]))


@evaluator("SIGN")
def _sign(call: Call, operand: Literal) -> Any:
    value = number(operand)
    sign = (value > 0) - (value < 0)
    return double_text(sign) if call.type.root in APPROXIMATE else sign


@evaluator("MOD")
def _mod(call: Call, left: Literal, right: Literal) -> Decimal:
    if call.type.root in APPROXIMATE:
        raise UnknownValue
    return number(left) % number(right)


def _rounding(mode: str) -> Callable[..., Decimal]:
    def evaluate(call: Call, operand: Literal, digits: Literal | None = None) -> Decimal:
        value = number(operand)
        scale = 0 if digits is None else int(digits.value)
        return value.quantize(Decimal(1).scaleb(-scale), mode) if -value.as_tuple().exponent > scale else value  # type: ignore[operator]

    return evaluate


evaluator("ROUND")(_rounding(ROUND_HALF_UP))
evaluator("TRUNCATE")(_rounding(ROUND_DOWN))
_FLOOR, _CEIL = _rounding(ROUND_FLOOR), _rounding(ROUND_CEILING)


def round_whole(call: Call, operand: Literal, up: bool) -> Decimal:
    """FLOOR or CEIL of an exact number."""
    return (_CEIL if up else _FLOOR)(call, operand)

"""Conditions over columns of Arrow: the comparisons that joins have beside their keys.

Only what is exactly the same in Flink and in Arrow is computed; :func:`is_computed` tells before anything is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ...plan.functions.cast import CAST
from ...plan.functions.comparison import AND, IS_NOT_NULL, IS_NULL, IS_TRUE, NOT, OR
from ...plan.rex import Call, InputRef, Literal, RexNode, internal_name
from ...plan.types import LogicalType, decimal
from ...plan.types.widening import widens
from ...state.form_arrow import arrow, arrow_type
from .flat import fit
from .relational import compute

if TYPE_CHECKING:
    from pyarrow import Array

_COMPARISONS = {
    internal_name(sign): function
    for sign, function in (
        ("=", "equal"),
        ("<>", "not_equal"),
        ("<", "less"),
        ("<=", "less_equal"),
        (">", "greater"),
        (">=", "greater_equal"),
    )
}
_ARITHMETIC = {internal_name(sign): function for sign, function in (("+", "add"), ("-", "subtract"), ("*", "multiply"))}
_LOGIC = {AND.internal_name: "and_kleene", OR.internal_name: "or_kleene"}
_TESTS = {IS_NULL.internal_name: "is_null", IS_NOT_NULL.internal_name: "is_valid"}
_IS_TRUE = IS_TRUE.internal_name
_WHOLE = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_COMPARED = (*_WHOLE, "DECIMAL", "DOUBLE", "BOOLEAN", "DATE")
"""The types whose values compare alike."""
_DIGITS, _MOST_DIGITS = 19, 38
"""The digits of the largest BIGINT, and the most of a decimal."""
_TIMES = ("TIMESTAMP", "TIMESTAMP_LTZ")


def is_computed(rex: RexNode) -> bool:
    """Whether an expression is one that :func:`computed` knows."""
    match rex:
        case InputRef(_, t):
            return t.root in (*_COMPARED, "CHAR", "VARCHAR") or (t.root in _TIMES and (t.precision or 0) <= 6)
        case Literal(value, t, None):
            return value is None or t.root in (*_WHOLE, "DECIMAL", "BOOLEAN", "CHAR", "VARCHAR")
        case Call(name, operands) if name in _COMPARISONS:
            left, right = (operand.type for operand in operands)
            is_equality = name in (internal_name("="), internal_name("<>"))
            return all(map(is_computed, operands)) and _are_comparable(left, right, is_equality)
        case Call(name, operands) if name in _LOGIC or name in _TESTS or name in (NOT.internal_name, _IS_TRUE):
            return all(map(is_computed, operands))
        case Call(name, (left, right), t) if name in _ARITHMETIC:
            is_same_type = left.type.root == right.type.root == t.root
            return is_same_type and t.root in _WHOLE and is_computed(left) and is_computed(right)
        case Call(CAST.internal_name, (operand,), t):
            return is_computed(operand) and widens(operand.type, t)
    return False


def _are_comparable(left: LogicalType, right: LogicalType, is_equality: bool) -> bool:
    if left.root in ("CHAR", "VARCHAR") and right.root in ("CHAR", "VARCHAR"):
        return is_equality and left.root == right.root  # the order of texts differs from Arrow's beyond ASCII
    if "DECIMAL" in (left.root, right.root):
        return _common_decimal(left, right) is not None
    return (left.root in _WHOLE and right.root in _WHOLE) or left.root == right.root


def _common_decimal(left: LogicalType, right: LogicalType) -> LogicalType | None:
    """The type of decimals that holds the numbers of both types."""
    digits = []
    for t in (left, right):
        if t.root == "DECIMAL":
            digits.append(((t.precision or 10) - (t.scale or 0), t.scale or 0))
        elif t.root in _WHOLE:
            digits.append((_DIGITS, 0))
        else:
            return None
    whole, scale = (max(each) for each in zip(*digits, strict=True))
    return decimal(whole + scale, scale) if whole + scale <= _MOST_DIGITS else None


def computed(rex: RexNode, row: Sequence[Array], rows: int) -> Array:
    """The value of an expression for each of so many rows, by SQL's logic of three values."""
    pa = arrow()
    match rex:
        case InputRef(index):
            return row[index]
        case Literal(value, t):
            return pa.repeat(pa.scalar(_literal(value, t), arrow_type(t)), rows)
        case Call(CAST.internal_name, (operand,), t):
            return fit(computed(operand, row, rows), arrow_type(t))
        case Call(name, operands):
            values = [computed(operand, row, rows) for operand in operands]
            if name in _COMPARISONS:
                left, right = (operand.type for operand in operands)
                common = _common_decimal(left, right) if left.root != right.root or left.scale != right.scale else None
                if common is not None:
                    values = [fit(value, arrow_type(common)) for value in values]
                return getattr(compute(), _COMPARISONS[name])(*values)
            if name in _ARITHMETIC:  # which wraps as Flink's does
                return getattr(compute(), _ARITHMETIC[name])(*values)
            if name in _TESTS:
                return getattr(compute(), _TESTS[name])(values[0])
            if name == _IS_TRUE:
                return compute().fill_null(values[0], False)
            if name == NOT.internal_name:
                return compute().invert(values[0])
            result = values[0]
            for value in values[1:]:
                result = getattr(compute(), _LOGIC[name])(result, value)
            return result
    raise TypeError(f"not computed: {rex!r:.80}")


def _literal(value: Any, t: LogicalType) -> Any:
    if value is None:
        return None
    if t.root == "DECIMAL":
        return Decimal(str(value)).quantize(Decimal(1).scaleb(-(t.scale or 0)))
    return int(value) if t.root in _WHOLE else value

"""Row expressions with the types that Calcite's ``RexBuilder`` and ``StandardConvertletTable`` give them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from ...plan.functions import cast as casts
from ...plan.functions import comparison, conditional
from ...plan.functions.model import Function
from ...plan.functions.typing import exact_digits, family_of, in_family, is_interval, least_restrictive
from ...plan.record import replace
from ...plan.rex import Call, FieldAccess, Literal, RexNode, walk
from ...plan.types import (
    APPROXIMATE,
    BIGINT,
    CHARACTER,
    INT,
    INTEGER_BITS,
    INTEGERS,
    NUMERIC,
    SYMBOL,
    TIMESTAMPS,
    LogicalType,
    char,
)
from .exact import EXACT
from .expressions import FALSE, TRUE, is_call
from .unplanned import Approximate


def null(t: LogicalType) -> Literal:
    """NULL of a type."""
    return Literal(None, t.nullable_())


def integer(value: int, t: LogicalType = INT) -> Literal:
    """A whole number."""
    return Literal(value, t.not_null())


def text(value: str) -> Literal:
    """A string literal, of fixed length as in SQL; Flink counts in UTF-16."""
    return Literal(value, char(len(value.encode("utf-16-le")) // 2, nullable=False))


def symbol(kind: str, value: str) -> Literal:
    """An enum constant, such as the unit of an EXTRACT."""
    return Literal(value, SYMBOL, kind)


def is_null_literal(rex: RexNode) -> bool:
    return isinstance(rex, Literal) and rex.value is None


def is_constant(rex: RexNode) -> bool:
    """Whether the expression consists of literals other than NULL, so that Flink folds it."""
    parts = walk(rex)
    return all(p.operands if isinstance(p, Call) else isinstance(p, Literal) and p.value is not None for p in parts)


def fits_integer(value: int, t: LogicalType) -> bool:
    """Whether a number is within the range of an integer type."""
    limit = 1 << (INTEGER_BITS[t.root] - 1)
    return -limit <= value < limit


# ---------------------------------------------------------------- casts


def convert(to: LogicalType, rex: RexNode, *, explicit: bool = False) -> RexNode:
    """``rex`` as ``to``: a literal is converted where its value allows, everything else is cast.

    A literal loses the nullability of ``to``, unless ``explicit`` asks for the very type.
    """
    if rex.type == to:
        return rex
    if isinstance(rex, Literal):
        if rex.value is None:
            return null(to)
        literal = _retyped_literal(to, rex)
        if literal is not None:
            return _abstract_cast(to, literal) if explicit and to.nullable else literal
    elif to.root == "BOOLEAN" and in_family(rex.type, "EXACT"):
        zero = integer(0, rex.type) if rex.type.root in INTEGERS else Literal("0", rex.type.not_null())
        return comparison.NE.typed(to, rex, zero)
    if rex.type.root == "BOOLEAN" and in_family(to, "EXACT"):
        return _boolean_to_exact(to, rex)
    return _abstract_cast(to, rex)


def _abstract_cast(to: LogicalType, rex: RexNode) -> RexNode:
    return casts.CAST.typed(to, rex)


def _boolean_to_exact(to: LogicalType, rex: RexNode) -> RexNode:
    one, zero = (integer(n, to) if to.root in INTEGERS else Literal(str(n), to.not_null()) for n in (1, 0))
    chosen = conditional.CASE.call(rex, one, zero)
    if not rex.type.nullable:
        return chosen
    known = comparison.IS_NOT_NULL.call(rex)
    return conditional.CASE.typed(to, known, chosen, null(to))


def _retyped_literal(to: LogicalType, literal: Literal) -> Literal | None:
    """The literal with another type, if its value needs no conversion."""
    given, target = literal.type, to.not_null()
    if literal.symbol is not None:
        return None
    if given.root in CHARACTER and to.root in CHARACTER:
        fits = len(literal.value) <= (to.length or 0) if to.root == "VARCHAR" else len(literal.value) == to.length
        return Literal(literal.value, target) if fits else None
    if given.root in NUMERIC and to.root in NUMERIC:
        return _retyped_number(target, literal.value)
    if given.root in ("BINARY", "VARBINARY"):
        return Literal(literal.value, target) if to.root == "VARBINARY" else None
    if given.root != to.root:
        return None
    if given.root in ("TIME", *TIMESTAMPS):
        digits = len(literal.value.partition(".")[2])
        return Literal(literal.value, target.regular()) if digits <= (to.precision or 0) else None
    return Literal(literal.value, target) if given.precision == to.precision else None


def _retyped_number(to: LogicalType, given: Any) -> Literal | None:
    value = Decimal(given)
    if to.root in INTEGERS:
        is_integral = value == value.to_integral_value()
        return Literal(int(value), to) if is_integral and fits_integer(int(value), to) else None
    if to.root == "DECIMAL":
        precision, scale = exact_digits(to)
        if value.copy_abs() >= Decimal(10) ** (precision - scale):
            return None
    if to.root not in (*APPROXIMATE, "DECIMAL"):
        return None
    return Literal(given if isinstance(given, Approximate) else str(value), to)


def rescaled(rex: RexNode) -> RexNode:
    """A decimal literal, or the cast of one, with as many digits behind the point as its type has."""
    if is_call(rex, casts.CAST):
        return replace(rex, operands=tuple(map(rescaled, rex.operands)))
    if not isinstance(rex, Literal) or rex.type.root != "DECIMAL" or rex.value is None:
        return rex
    return replace(
        rex, value=str(Decimal(rex.value).quantize(Decimal(1).scaleb(-(rex.type.scale or 0)), context=EXACT))
    )


def ensure_type(to: LogicalType, rex: RexNode) -> RexNode:
    """``rex`` as ``to``, with its own nullability."""
    return convert(to.with_nullability(rex.type.nullable), rex)


# ---------------------------------------------------------------- calls


def comparison_operands(operands: Sequence[RexNode]) -> tuple[RexNode, ...]:
    """The operands of a comparison, cast to one type where their families differ.

    Text against a number becomes a number that is wide enough; text against a time becomes a time.
    """
    types = [o.type for o in operands if o.type.root != "NULL"]
    if len({family_of(t) for t in types}) < 2:
        return tuple(operands)
    others = [t for t in types if t.root not in CHARACTER]
    if others and len(others) < len(types) and in_family(others[0], "NUMERIC"):
        others.append(BIGINT)
    common = least_restrictive(others or types)
    if common is None:
        return tuple(operands)
    return tuple(ensure_type(common, o) if o.type.root != "NULL" else o for o in operands)


def equality_operands(operands: Sequence[RexNode]) -> tuple[RexNode, ...]:
    """The operands of an equality: as :func:`comparison_operands`, but a text beside a number is not cast."""
    stays = comparison.are_text_and_number(*(o.type for o in operands))
    return tuple(operands) if stays else comparison_operands(operands)


def compare_coerced(operator: Function, left: RexNode, right: RexNode) -> Call:
    """A comparison: ``=`` and ``<>`` cast to the common type, the others only across families."""
    if operator in (comparison.EQ, comparison.NE):
        common = least_restrictive((left.type, right.type))
        if common is None:
            return operator.call(left, right)
        return operator.call(*(ensure_type(common, side) for side in (left, right)))
    return operator.call(*comparison_operands((left, right)))


def conjunction(parts: Sequence[RexNode]) -> RexNode:
    """The conditions as one flat AND; TRUE if there are none."""
    return _flat(comparison.AND, parts, TRUE)


def disjunction(parts: Sequence[RexNode]) -> RexNode:
    """The conditions as one flat OR; FALSE if there are none."""
    return _flat(comparison.OR, parts, FALSE)


def _flat(operator: Function, parts: Sequence[RexNode], empty: Literal) -> RexNode:
    if len(parts) < 2:
        return parts[0] if parts else empty
    operands: list[RexNode] = []
    for part in parts:
        operands += part.operands if is_call(part, operator) else (part,)
    return operator.call(*operands)


def field_access(rex: RexNode, name: str) -> RexNode:
    """A field of a row, cast to be nullable where it is NOT NULL in a row that may be NULL.

    Of a path of fields only the last one is cast.  Source: ``FlinkRexBuilder.makeFieldAccess``.
    """
    access = FieldAccess(name, _without_nullable_cast(rex))
    if rex.type.nullable and not access.type.nullable:
        return _abstract_cast(access.type.nullable_(), access)
    return access


def _without_nullable_cast(rex: RexNode) -> RexNode:
    """The row below a cast that only makes it nullable."""
    if not is_call(rex, casts.CAST):
        return rex
    (operand,) = rex.operands
    only_nullable = operand.type.fields == rex.type.fields and rex.type.nullable and not operand.type.nullable
    return operand if only_nullable else rex


def interval_type(
    unit: str, end_unit: str | None = None, precision: int | None = None, fraction: int | None = None
) -> LogicalType:
    """The type of an interval of these units, with Flink's default precisions."""
    last = end_unit or unit
    root = f"INTERVAL_{unit}" + (f"_TO_{end_unit}" if end_unit else "")
    leading = unit in ("DAY", "YEAR")
    return LogicalType(
        root,
        precision=(2 if precision is None else precision) if leading else None,
        scale=(6 if fraction is None else fraction) if last == "SECOND" else None,
    )


def is_temporal_difference(left: LogicalType, right: LogicalType) -> bool:
    """Whether ``left - right`` subtracts one time from another."""
    return in_family(left, "DATETIME") and in_family(right, "DATETIME") and not is_interval(right)

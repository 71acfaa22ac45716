"""The types of operands: what a function takes, what is cast or compared, and the type they have in common."""

from __future__ import annotations

from collections.abc import Sequence

from ..plan.functions import Function
from ..plan.functions.cast import CAST, TRY_CAST
from ..plan.functions.typing import is_interval, is_year_month, least_restrictive
from ..plan.rex import RexNode
from ..plan.types import BINARY_STRING, CHARACTER, DATETIME, INTEGERS, NUMERIC, LogicalType
from ..planner.rex.builder import convert
from ..planner.rex.casts import avoids_cast, can_cast
from .naming import ValidationError


def typed(function: Function, *operands: RexNode) -> RexNode:
    """A call of a function.  Raises :class:`ValidationError` if it does not take operands of these types."""
    if function.accept([o.type for o in operands]) is None:
        types = ", ".join(str(o.type.nullable_()) for o in operands)
        raise ValidationError(f"{function.name} does not take ({types})")
    return function.call(*operands)


def cast(operand: RexNode, to: LogicalType, safe: bool) -> RexNode:
    """The value of an operand as one of another type.  Raises :class:`ValidationError` if there is no such cast."""
    if not _is_cast(operand.type, to):
        types = (str(t.regular().nullable_()) for t in (operand.type, to))
        raise ValidationError("a value of type {} cannot be cast to {}".format(*types))
    if safe:
        return TRY_CAST.typed(to.nullable_(), operand)
    return operand if operand.type == to else CAST.typed(to, operand)


def _is_cast(source: LogicalType, target: LogicalType) -> bool:
    """Whether the Table API has a cast.  It has not all that SQL has; those of intervals to numbers are left out.

    Source: ``LogicalTypeCasts.supportsExplicitCast``.
    """
    a, b = source.root, target.root
    if is_interval(source) and is_interval(target):
        return is_year_month(source) == is_year_month(target)
    if b == "BOOLEAN" and a in NUMERIC:
        return a in INTEGERS
    parses_array = a in CHARACTER and b == "ARRAY"
    parses_time = a in BINARY_STRING and b in DATETIME
    return can_cast(source, target) and not parses_array and not parses_time


def are_comparable(a: LogicalType, b: LogicalType) -> bool:
    """Whether types are of one family.  Source: ``ComparableTypeStrategy.isComparable``."""
    families = (CHARACTER, NUMERIC, DATETIME, ("BINARY", "VARBINARY"))
    return a.root == b.root or "NULL" in (a.root, b.root) or any({a.root, b.root} <= {*f} for f in families)


def of_common_type(operands: Sequence[RexNode]) -> list[RexNode]:
    """Operands that are cast to the type they have in common, unless their values are of it already.

    Raises :class:`ValidationError` if they have none.
    """
    common = least_restrictive([o.type for o in operands])
    if common is None:
        raise ValidationError(f"{', '.join(str(o.type) for o in operands)} have no type in common")
    return [
        o if avoids_cast(o.type, common.nullable_()) else convert(common.with_nullability(o.type.nullable), o)
        for o in operands
    ]

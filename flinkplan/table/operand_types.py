"""The types of operands: which a function takes, which are compared, and which they have in common."""

from __future__ import annotations

from collections.abc import Sequence

from ..plan.functions import Function
from ..plan.functions.typing import least_restrictive
from ..plan.rex import RexNode
from ..plan.types import CHARACTER, DATETIME, NUMERIC, LogicalType
from ..planner.rex.builder import convert
from ..planner.rex.casts import avoids_cast
from .naming import ValidationError


def typed(function: Function, *operands: RexNode) -> RexNode:
    """A call of a function.  Raises :class:`ValidationError` if it does not take operands of these types."""
    if function.accept([o.type for o in operands]) is None:
        types = ", ".join(str(o.type.nullable_()) for o in operands)
        raise ValidationError(f"{function.name} does not take ({types})")
    return function.call(*operands)


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

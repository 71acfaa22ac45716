"""Expressions that are equal but for the order of commutative operands.  Source: Calcite's ``RexNormalize``."""

from __future__ import annotations

from collections.abc import Sequence

from ...plan.functions import Function, called
from ...plan.functions.arithmetic import DATETIME_PLUS, PLUS, TIMES
from ...plan.functions.comparison import AND, EQ, GE, GT, NE, OR
from ...plan.rex import Call, FieldAccess, RexNode
from .expressions import MIRRORED


def are_alike(one: RexNode, other: RexNode) -> bool:
    """Whether expressions are equal up to the order of commutative operands.  Source: ``RexNormalize``."""
    numbers: dict[object, int] = {}
    return one == other or _normal(one, numbers) == _normal(other, numbers)


def only_reordered(after: Sequence[RexNode], before: Sequence[RexNode]) -> bool:
    """Whether simplified operands differ only in the order of commutative operands; then they are not replaced."""
    if len(after) != len(before):
        return False
    return all(are_alike(a, b) for a, b in zip(after, before, strict=True))


def _normal(rex: RexNode, numbers: dict[object, int]) -> int:
    """A number of the expression that is equal for expressions that are alike."""
    key: object = rex
    if isinstance(rex, FieldAccess):
        key = (rex.name, _normal(rex.expr, numbers))
    elif isinstance(rex, Call):
        function, operands = called(rex), [_normal(o, numbers) for o in rex.operands]
        if function in (GT, GE):
            function = MIRRORED[function]
            operands.reverse()
        elif len(operands) == 2 and _is_symmetric(function, *rex.operands):
            operands.sort()
        key = (function or rex.name, rex.reference, rex.type, *operands)
    return numbers.setdefault(key, len(numbers))


def _is_symmetric(function: Function | None, left: RexNode, right: RexNode) -> bool:
    if function in (PLUS, TIMES, DATETIME_PLUS):
        return left.type.nullable_() == right.type.nullable_()
    return function in (AND, OR, EQ, NE)

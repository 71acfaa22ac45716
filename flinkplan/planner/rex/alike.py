"""Expressions that are equal but for the order of commutative operands.  Source: Calcite's ``RexNormalize``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...plan.functions import Function, called
from ...plan.functions.arithmetic import DATETIME_PLUS, PLUS, TIMES
from ...plan.functions.comparison import AND, EQ, GE, GT, NE, OR, SEARCH
from ...plan.record import replace
from ...plan.rex import Call, FieldAccess, RexNode
from . import sargs
from .expressions import MIRRORED, is_call


def are_alike(one: RexNode, other: RexNode) -> bool:
    """Whether expressions are equal up to the order of commutative operands.  Source: ``RexNormalize``."""
    numbers: dict[object, int] = {}
    return one == other or _normal(one, numbers) == _normal(other, numbers)


def only_reordered(after: Sequence[RexNode], before: Sequence[RexNode]) -> bool:
    """Whether simplified operands differ only in the order of commutative operands; then they are not replaced."""
    if len(after) != len(before):
        return False
    return all(are_alike(a, b) for a, b in zip(after, before, strict=True))


def shared(exprs: Iterable[RexNode]) -> tuple[RexNode, ...]:
    """The expressions, with one form of all parts that are alike: that of the first.  Source: ``RexProgramBuilder``."""
    numbers: dict[object, int] = {}
    forms: dict[int, RexNode] = {}

    def share(rex: RexNode) -> tuple[int, RexNode]:
        number, form = _numbered(rex, numbers, share)
        return number, forms.setdefault(number, form)

    return tuple(share(rex)[1] for rex in exprs)


def _normal(rex: RexNode, numbers: dict[object, int]) -> int:
    """A number of the expression that is equal for expressions that are alike."""
    return _numbered(rex, numbers, lambda part: (_normal(part, numbers), part))[0]


def _numbered(
    rex: RexNode, numbers: dict[object, int], visit: Callable[[RexNode], tuple[int, RexNode]]
) -> tuple[int, RexNode]:
    """The number of an expression, and the expression of the parts that ``visit`` gives with theirs."""
    key: object = rex
    if isinstance(rex, FieldAccess):
        inner, part = visit(rex.expr)
        key = (rex.name, inner)
        rex = rex if part is rex.expr else replace(rex, expr=part)
    elif isinstance(rex, Call):
        visited = [visit(o) for o in rex.operands]
        function, operands = called(rex), [number for number, _ in visited]
        if any(part is not operand for (_, part), operand in zip(visited, rex.operands, strict=True)):
            rex = replace(rex, operands=tuple(part for _, part in visited))
        if function in (GT, GE):
            function = MIRRORED[function]
            operands.reverse()
        elif len(operands) == 2 and _is_symmetric(function, *rex.operands):
            operands.sort()
        key = (function or rex.name, rex.reference, rex.type, *operands)
    return numbers.setdefault(key, len(numbers)), rex


def _is_symmetric(function: Function | None, left: RexNode, right: RexNode) -> bool:
    if function in (PLUS, TIMES, DATETIME_PLUS):
        return left.type.nullable_() == right.type.nullable_()
    if function is OR and (_is_list(left) or _is_list(right)):
        return False  # as written it has more than two operands, one for each value of the list
    return function in (AND, OR, EQ, NE)


def _is_list(rex: RexNode) -> bool:
    searched = sargs.read(rex) if is_call(rex, SEARCH) else None
    return searched is not None and searched.null is None and searched.is_points and len(searched.ranges) > 1

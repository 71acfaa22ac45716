"""Expressions that a join compares are computed in its inputs.  Source: ``JoinPushExpressionsRule``."""

from __future__ import annotations

from ....plan.functions import called
from ....plan.functions.comparison import CAST_ONE_SIDE, EQ, IS_NOT_DISTINCT_FROM, are_joinable
from ....plan.functions.typing import least_restrictive
from ....plan.record import replace
from ....plan.rex import InputRef, RexNode, children
from ...algebra.builders import append_columns, select_columns
from ...algebra.logical import Join, Project, TemporalJoin
from ...algebra.rel import ONE_SIDED, Rel
from ...errors import PlanningError
from ...rex.expressions import FALSE, and_, cast, compare, conjunctions, is_always_false, is_call, refs, rewrite, shift
from ...rex.simplify import simplify_condition
from ..rule import rule


@rule(on=(Join, TemporalJoin))
def push_join_expressions(rel: Join | TemporalJoin) -> Rel:
    """``a.x + 1 = b.y`` compares a column of the left input that holds ``x + 1``; a projection drops it again.

    The condition of a semi or anti join is simplified before, with the filter of its subquery: where it never holds it
    stays.  Source: ``SimplifyFilterConditionRule.EXTENDED``.
    """
    if isinstance(rel, Join) and rel.type in ONE_SIDED and is_always_false(simplify_condition(rel.condition)):
        return replace(rel, condition=FALSE)
    return _pushed(rel)


@rule(on=(Join, TemporalJoin))
def push_written_expressions(rel: Join | TemporalJoin) -> Rel:
    """As :func:`push_join_expressions`, of joins that SQL has.

    ``SqlToRelConverter`` does so, the ``RelBuilder`` of the Table API does not.
    """
    return rel if isinstance(rel, Join) and rel.is_built else _pushed(rel)


def _pushed(rel: Join | TemporalJoin) -> Rel:
    width = rel.left.width
    total = width + rel.right.width
    left_extra: list[RexNode] = []
    right_extra: list[RexNode] = []
    marked: list[tuple[RexNode, RexNode | None, RexNode | None]] = []
    for part in conjunctions(rel.condition):
        sides = _sides(part, width)
        if sides is None:
            marked.append((part, None, None))
            continue
        left, right = sides
        if not isinstance(left, InputRef) and left not in left_extra:
            left_extra.append(left)
        if not isinstance(right, InputRef) and right not in right_extra:
            right_extra.append(right)
        marked.append((part, left, right))
    if not left_extra and not right_extra:
        return rel
    new_width = width + len(left_extra)

    def place(rex: RexNode, on_left: bool) -> RexNode:
        if isinstance(rex, InputRef):
            return rex if on_left else replace(rex, index=rex.index + len(left_extra))
        if on_left:
            return InputRef(width + left_extra.index(rex), rex.type)
        return InputRef(new_width + (total - width) + right_extra.index(rex), rex.type)

    parts: list[RexNode] = []
    for part, on_left, on_right in marked:
        operator = called(part)
        if on_left is None or on_right is None or operator is None:
            parts.append(_moved(part, width, len(left_extra)))
        elif min(refs(children(part)[0])) >= width:
            parts.append(compare(operator, place(on_right, False), place(on_left, True)))
        else:
            parts.append(compare(operator, place(on_left, True), place(on_right, False)))
    new_left = append_columns(rel.left, left_extra)
    new_right = append_columns(rel.right, [shift(e, -width) for e in right_extra])
    join = replace(rel, left=new_left, right=new_right, condition=and_(parts))
    if isinstance(join, Join) and join.type in ONE_SIDED:
        result = select_columns(join, range(width))
    else:
        result = select_columns(join, [*range(width), *range(new_width, new_width + total - width)])
    return replace(result, names=rel.names) if isinstance(result, Project) else result


def _sides(rex: RexNode, width: int) -> tuple[RexNode, RexNode] | None:
    """The left and right operand of an equality between both inputs, unless both are columns."""
    if not is_call(rex, EQ, IS_NOT_DISTINCT_FROM):
        return None
    a, b = rex.operands
    of_a, of_b = refs(a), refs(b)
    if not of_a or not of_b:
        return None
    if max(of_a) < width <= min(of_b):
        return _coerced(a, b)
    if max(of_b) < width <= min(of_a):
        return _coerced(b, a)
    return None


def _coerced(left: RexNode, right: RexNode) -> tuple[RexNode, RexNode]:
    """JoinConditionTypeCoerceRule: operands are cast to their common type, but text is never cast to another type."""
    if not are_joinable(left.type, right.type):
        raise PlanningError(
            f"{left.type.nullable_()} and {right.type.nullable_()} are not converted implicitly by a join",
            hint=CAST_ONE_SIDE,
        )
    if left.type.nullable_() == right.type.nullable_():
        return left, right
    common = least_restrictive([left.type, right.type])
    if common is None:
        return left, right
    nullable = left.type.nullable, right.type.nullable
    return cast(left, common.with_nullability(nullable[0])), cast(right, common.with_nullability(nullable[1]))


def _moved(rex: RexNode, width: int, by: int) -> RexNode:
    return rewrite(rex, lambda r: replace(r, index=r.index + by) if isinstance(r, InputRef) and r.index >= width else r)

"""The expressions of two adjacent projections as those of one.  Source: ``FlinkProjectMergeRule``, ``RelBuilder``."""

from __future__ import annotations

from collections.abc import Iterable

from ...plan.functions.cast import CAST
from ...plan.functions.comparison import SEARCH
from ...plan.functions.conditional import CASE
from ...plan.record import replace
from ...plan.rex import Call, InputRef, RexNode
from .expressions import COMPARISONS, cast, inline, is_call
from .unplanned import Over


def merged_expressions(exprs: Iterable[RexNode], below: tuple[RexNode, ...]) -> tuple[RexNode, ...]:
    """The expressions over the columns that ``below`` computes, over what these are computed from."""
    read = tuple(map(_without_cast_to_nullable, below))
    return tuple(_merged(e, below, read) for e in exprs)


def _merged(rex: RexNode, computed: tuple[RexNode, ...], read: tuple[RexNode, ...]) -> RexNode:
    """An expression over what the columns of the lower projection are computed by: ``read`` is what calls read of it.

    OVER calls and what is searched are not simplified, and CASE is NOT NULL where its values are, which calls around it
    do not ask.  Source: ``RexSimplify``.
    """

    def operand(node: RexNode) -> RexNode:
        if isinstance(node, Over) or is_call(node, SEARCH):
            return inline(node, computed)
        if not isinstance(node, Call):
            return inline(node, read)
        operands = tuple(map(operand, node.operands))
        if is_call(node, CASE) and operands != node.operands and not any(o.type.nullable for o in operands[1::2]):
            return replace(node, operands=operands, type=node.type.with_nullability(operands[-1].type.nullable))
        return replace(node, operands=operands)

    if isinstance(rex, InputRef):
        return inline(rex, computed)
    merged = _comparing(operand(rex))
    return cast(merged, rex.type) if is_call(rex, CASE) else merged


def _comparing(rex: RexNode) -> RexNode:
    """A comparison of NOT NULL operands becomes NOT NULL, under a cast to its former type."""
    if is_call(rex, *COMPARISONS) and not any(o.type.nullable for o in rex.operands):
        return cast(replace(rex, type=rex.type.not_null()), rex.type)
    return rex


def _without_cast_to_nullable(rex: RexNode) -> RexNode:
    """The operand of a cast that only makes it nullable; calls read the operand directly."""
    if is_call(rex, CAST) and rex.operands[0].type == rex.type.not_null():
        return rex.operands[0]
    return rex

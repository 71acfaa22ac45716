"""Averages and variances in terms of sums and counts.  Source: Calcite's ``AvgVarianceConvertlet``."""

from __future__ import annotations

from collections.abc import Callable

from ...plan.functions import Function, arithmetic, comparison, conditional
from ...plan.functions.aggregate import COUNT, SUM
from ...plan.rex import Literal, RexNode
from ...plan.types import BIGINT, LogicalType, decimal
from ..rex.builder import convert, ensure_type, integer, null


def average(target: LogicalType, total: RexNode, count: RexNode) -> RexNode:
    """An average of type ``target``."""
    quotient = arithmetic.DIVIDE.call(ensure_type(target, total), count)
    return convert(target.with_nullability(quotient.type.nullable), quotient)


def variance(
    target: LogicalType,
    operand: RexNode,
    aggregate: Callable[[Function, RexNode], RexNode],
    of_sample: bool,
    root: bool,
) -> RexNode:
    """``(SUM(x * x) - SUM(x) * SUM(x) / COUNT(x)) / COUNT(x)``, each step in the type of the result, ``target``.

    ``aggregate`` makes a SUM or a COUNT of an expression; ``root``: take the square root.
    """

    def typed(rex: RexNode) -> RexNode:
        return ensure_type(target.with_nullability(rex.type.nullable), rex)

    x = typed(operand)
    square = typed(arithmetic.TIMES.call(x, x))
    squares, total, count = typed(aggregate(SUM, square)), typed(aggregate(SUM, x)), aggregate(COUNT, x)
    mean = typed(arithmetic.DIVIDE.call(typed(arithmetic.TIMES.call(total, total)), typed(count)))
    difference = typed(arithmetic.MINUS.call(squares, mean))
    result = typed(arithmetic.DIVIDE.call(difference, _less_one(count) if of_sample else typed(count)))
    if root:
        half = Literal("0.5", decimal(2, 1, nullable=False))
        result = typed(arithmetic.POWER.call(result, half))
    return convert(target, result)


def _less_one(count: RexNode) -> RexNode:
    """``CASE WHEN count = 1 THEN NULL ELSE count - 1 END``."""
    alone = comparison.EQ.call(count, integer(1, BIGINT))
    less = arithmetic.MINUS.call(count, integer(1))
    return conditional.CASE.typed(count.type.nullable_(), alone, null(count.type), less)

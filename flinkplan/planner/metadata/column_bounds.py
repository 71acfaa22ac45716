"""Bounds of the values of numeric columns, derived from filters and expressions.

Sources: ``FlinkRelMdColumnInterval``, ``FlinkRelMdFilteredColumnInterval``.
"""

from __future__ import annotations

from decimal import Decimal
from functools import reduce
from typing import Any

from ...plan.functions import Direction, aggregation_of, called
from ...plan.functions.aggregate import COUNT
from ...plan.functions.comparison import EQ, GE, GT, IS_TRUE, LE, LT, SEARCH
from ...plan.functions.conditional import CASE
from ...plan.record import Record
from ...plan.rex import Bound, Call, InputRef, Literal, RexNode, Sarg, children
from ...plan.specs import AggregateCall, ConstantRankRange, VariableRankRange
from ...plan.types import NUMERIC
from ..algebra import physical as p
from ..algebra.calls import is_call_of
from ..algebra.dispatch import Dispatch
from ..algebra.physical_bases import PhysicalBinary
from ..algebra.rel import Rel
from ..algebra.traits import UnknownBounds
from ..rex.expressions import MIRRORED, conjunctions, is_call


class Bounds(Record):
    """The least and the greatest value; ``None`` where unknown."""

    lower: Decimal | None = None
    upper: Decimal | None = None

    def within(self, other: Bounds) -> Bounds:
        """The intersection of both."""
        lowers = [b for b in (self.lower, other.lower) if b is not None]
        uppers = [b for b in (self.upper, other.upper) if b is not None]
        return Bounds(max(lowers, default=None), min(uppers, default=None))

    def or_(self, other: Bounds) -> Bounds:
        """The smallest bounds that contain both."""
        lower = None if self.lower is None or other.lower is None else min(self.lower, other.lower)
        upper = None if self.upper is None or other.upper is None else max(self.upper, other.upper)
        return Bounds(lower, upper)


UNKNOWN = Bounds()


def argument_bounds(rel: Rel, call: AggregateCall) -> Bounds:
    """The bounds of the argument of an aggregate call over ``rel``, also by its FILTER."""
    (index,) = call.arg_list
    while isinstance(rel, p.Exchange):
        rel = rel.input
    bounds = column_bounds(rel, index)
    if call.filter_arg < 0 or not isinstance(rel, p.Calc):
        return bounds
    kept, value = rel.projection[call.filter_arg], rel.projection[index]
    return bounds.within(_implied(children(kept)[0] if is_call(kept, IS_TRUE) else kept, value))


def column_bounds(rel: Rel, index: int) -> Bounds:
    """The bounds of a column."""
    rule = _RULES.get(rel)
    return rule(rel, index) if rule else UNKNOWN


def _input(rel: Any, index: int) -> Bounds:
    """The bounds of an operator that computes nothing of this column: those of its input."""
    return column_bounds(rel.input, index)


def _calc(rel: p.Calc, index: int) -> Bounds:
    value = rel.projection[index]
    bounds = _value(value, rel.input)
    if rel.condition is None or not isinstance(value, InputRef):
        return bounds
    return bounds.within(_implied(rel.condition, value))


def _join(rel: PhysicalBinary, index: int) -> Bounds:
    width = rel.left.width
    bounds = column_bounds(rel.left, index) if index < width else column_bounds(rel.right, index - width)
    types = (*rel.left.types, *rel.right.types)
    return bounds.within(_implied(rel.condition, InputRef(index, types[index])))


def _union(rel: p.UnionAll, index: int) -> Bounds:
    first, *others = (column_bounds(operand, index) for operand in rel.operands)
    return reduce(Bounds.or_, others, first)


def _rank(rel: p.Rank | p.WindowRank, index: int) -> Bounds:
    if index < rel.input.width:
        return column_bounds(rel.input, index)
    match rel.range:
        case ConstantRankRange(start, end):
            return Bounds(Decimal(start), Decimal(end))
        case VariableRankRange(end_index):
            upper = column_bounds(rel.input, end_index).upper
            return UNKNOWN if upper is None else Bounds(Decimal(1), upper)
    return UNKNOWN


def _over(rel: p.OverAggregate, index: int) -> Bounds:
    return column_bounds(rel.input, index) if index < rel.input.width else UNKNOWN


def _value(rex: RexNode, source: Rel) -> Bounds:
    if isinstance(rex, InputRef):
        return column_bounds(source, rex.index)
    if isinstance(rex, Literal):
        number = _number(rex)
        return Bounds(number, number)
    if is_call(rex, CASE):
        *branches, last = children(rex)
        bounds = _value(last, source)
        for value in branches[1::2]:
            bounds = bounds.or_(_value(value, source))
        return bounds
    return UNKNOWN


def _number(literal: Literal) -> Decimal | None:
    return Decimal(str(literal.value)) if literal.type.root in NUMERIC and literal.value is not None else None


def _implied(condition: RexNode, value: RexNode) -> Bounds:
    """The bounds of a value where a condition holds."""
    bounds = UNKNOWN
    for part in conjunctions(condition):
        if isinstance(part, Call):
            bounds = bounds.within(_compared(part, value))
    return bounds


def _compared(call: Call, value: RexNode) -> Bounds:
    operator = called(call)
    if operator is SEARCH and call.operands[0] == value and isinstance(call.operands[1], Sarg):
        ranges = call.operands[1].ranges
        if not ranges or call.operands[1].type.root not in NUMERIC:
            return UNKNOWN
        return Bounds(_end(ranges[0].lower), _end(ranges[-1].upper))
    if operator not in (EQ, GT, GE, LT, LE):
        return UNKNOWN
    left, right = call.operands
    if right == value:
        left, right, operator = right, left, MIRRORED[operator]
    if left != value or not isinstance(right, Literal):
        return UNKNOWN
    number = _number(right)
    return Bounds(number if operator in (EQ, GT, GE) else None, number if operator in (EQ, LT, LE) else None)


def _end(bound: Bound | None) -> Decimal | None:
    return None if bound is None else Decimal(str(bound.value))


def _aggregate(rel: p.GroupAggregate | p.LocalGroupAggregate, index: int) -> Bounds:
    keys = len(rel.grouping)
    if index < keys:
        return column_bounds(rel.input, rel.grouping[index])
    call = rel.calls[index - keys]
    if is_call_of(call, COUNT):
        return Bounds(lower=Decimal(0))
    known = aggregation_of(call.internal_name)
    if len(call.arg_list) != 1 or not (known.selects_argument or known.direction is Direction.BY_SIGN):
        return UNKNOWN
    bounds = argument_bounds(rel.input, call)
    if known.selects_argument:
        return bounds
    return Bounds(
        bounds.lower if bounds.lower is not None and bounds.lower >= 0 else None,
        bounds.upper if bounds.upper is not None and bounds.upper <= 0 else None,
    )


_RULES: Dispatch[Bounds] = Dispatch(
    "bounds of columns",
    {
        p.Calc: _calc,
        **dict.fromkeys((p.Exchange, p.Deduplicate, p.GlobalGroupAggregate), _input),
        **dict.fromkeys((p.SortLimit, p.Limit, p.TemporalSort, p.FullSort), _input),
        **dict.fromkeys((p.GroupAggregate, p.LocalGroupAggregate), _aggregate),
        **dict.fromkeys((p.RegularJoin, p.IntervalJoin, p.WindowJoin, p.VersionedJoin), _join),
        **dict.fromkeys((p.Rank, p.WindowRank), _rank),
        p.OverAggregate: _over,
        p.UnionAll: _union,
    },
    unknown=(UnknownBounds,),
    physical=True,
)

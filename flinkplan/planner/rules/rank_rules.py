"""Filters on ROW_NUMBER, RANK and DENSE_RANK become Top-N.

Sources: ``FlinkLogicalRankRule``, ``CalcRankTransposeRule``, ``ConstantRankNumberColumnRemoveRule``,
``RedundantRankNumberColumnRemoveRule``, ``RankUtil``.
"""

from __future__ import annotations

from decimal import Decimal
from functools import reduce

from ...plan.functions.aggregate import DENSE_RANK, RANK, ROW_NUMBER
from ...plan.functions.comparison import AND, EQ, GE, GT, LE, LT
from ...plan.record import replace
from ...plan.rex import Call, InputRef, Literal, RexNode
from ...plan.specs import ConstantRankRange, ConstantRankRangeWithoutEnd, RankRange, VariableRankRange
from ...plan.types import BIGINT, BOOLEAN, CHARACTER, INTEGERS
from ..algebra.builders import calc, is_trivial, merge_calc
from ..algebra.calls import is_call_of
from ..algebra.physical import Calc, OverAggregate, Rank
from ..algebra.rel import Rel
from ..errors import PlanningError
from ..metadata.keys import upsert_keys
from ..rex import sargs
from ..rex.expressions import are_identity, conjunctions, identity, is_call, refs, remap, rewrite
from ..rex.normal_forms import to_cnf
from .rule import Order, RuleSet, rule


@rule(on=Calc, over=OverAggregate)
def to_rank(rel: Calc, over: OverAggregate) -> Rel:
    """A filter on a rank becomes a Top-N, with a column for the rank only if the calc computes with it.

    A calc that would hand on all columns as they are is left out.
    """
    if rel.condition is None:
        return rel
    calls = [c for g in over.groups for c in g.agg_calls]
    if len(calls) != 1 or not is_call_of(calls[0], ROW_NUMBER, RANK, DENSE_RANK) or not over.groups[0].order_by.fields:
        return rel
    rank_index = over.input.width
    parts = conjunctions(rel.condition)
    about = [p for p in parts if rank_index in refs(p)]
    range_ = rank_range(about, rank_index)
    if range_ is None:
        return rel
    if isinstance(range_, ConstantRankRangeWithoutEnd):
        raise PlanningError("a Top-N needs an end, as in rn <= 10", hint="filter the rank from above too")
    if isinstance(range_, ConstantRankRange) and range_.end <= 0:
        raise PlanningError(f"a Top-N cannot end at {range_.end}", hint="ranks count from 1")
    rest = [p for p in conjunctions(to_cnf(rewrite(rel.condition, sargs.expand))) if rank_index not in refs(p)]
    rank = Rank(
        input=over.input,
        kind=calls[0].function_name,
        partition=tuple(sorted(set(over.partition))),
        order=over.groups[0].order_by.fields,
        range=range_,
        rank=_name(over, rel) if any(rank_index in refs(e) for e in rel.projection) else None,
    )
    if not rest and are_identity(rel.projection, rank.types):
        return rank
    return merge_calc(replace(rel, input=rank, condition=reduce(_both, rest) if rest else None), merges_python=True)


def _name(over: OverAggregate, reader: Calc) -> str:
    """The name of the rank column: the one that the calc above gives it."""
    columns = zip(reader.projection, reader.names, strict=True)
    given = [n for e, n in columns if isinstance(e, InputRef) and e.index == over.input.width]
    return given[-1] if given else over.names[-1]


def _both(a: RexNode, b: RexNode) -> Call:
    """What is left of a condition on ranks is put together again two by two: ``RankUtil.extractRankRange``."""
    return AND.typed(BOOLEAN.with_nullability(a.type.nullable or b.type.nullable), a, b)


def rank_range(parts: list[RexNode], rank: int) -> RankRange | None:
    """The rank range of conditions on the rank column; ``None`` where they are no range."""
    column: sargs.Search | None = None
    for part in parts:
        variable = _variable_range(part, rank)
        if variable is not None and len(parts) == 1:
            return variable
        searched = sargs.read(part)
        if searched is None or not isinstance(searched.operand, InputRef) or searched.operand.index != rank:
            return None
        searched = _in_numbers(searched)
        if searched is None:
            return None
        column = searched if column is None else sargs.intersect(column, searched)
    if column is None or len(column.ranges) != 1:
        return None
    lower, upper = column.ranges[0].lower, column.ranges[0].upper
    start = 1 if lower is None else int(Decimal(lower.value)) + (not lower.closed)
    if upper is None:
        return ConstantRankRangeWithoutEnd(start)
    return ConstantRankRange(start, int(Decimal(upper.value)) - (not upper.closed))


def _in_numbers(searched: sargs.Search) -> sargs.Search | None:
    """A search for ranks whose bounds are numbers; ``None`` where Flink finds no range in it."""
    if searched.type is None or searched.type.root in INTEGERS:
        return searched
    if searched.type.root not in CHARACTER:
        return None if searched.is_points else searched
    if searched.is_points:
        raise PlanningError("a rank is compared with a text", hint="compare it with a number")
    bounds = [bound for range_ in searched.ranges for bound in (range_.lower, range_.upper) if bound is not None]
    return replace(searched, type=BIGINT) if all(bound.value.strip().isdecimal() for bound in bounds) else None


def _variable_range(rex: RexNode, rank: int) -> RankRange | None:
    """The range up to a column: the same whether that bounds the rank, is above it, or equals it, as in Flink."""
    if is_call(rex, EQ):
        ranked, end = sorted(rex.operands, key=lambda operand: rank not in refs(operand))
    elif is_call(rex, LE, LT):
        ranked, end = rex.operands
    elif is_call(rex, GE, GT):
        end, ranked = rex.operands
    else:
        return None
    if not isinstance(ranked, InputRef) or ranked.index != rank or not isinstance(end, InputRef):
        return None
    return VariableRankRange(end.index)


@rule(on=Calc, over=Rank)
def trim_rank(rel: Calc, rank: Rank) -> Rel:
    """CalcRankTransposeRule: a Top-N reads only what it, the calc above it, or its input's upsert key needs.

    The calc above is left out where it hands on all that is left.  The new one is merged with one below later, so that
    a Top-N further below goes by it only if it stands right on that.
    """
    width = rank.input.width
    used = set().union(*map(refs, rel.projection), refs(rel.condition))
    keys = {*rank.partition, *(f.index for f in rank.order)}.union(*upsert_keys(rank.input))
    if isinstance(rank.range, VariableRankRange):
        keys.add(rank.range.end_index)
    needed = sorted(i for i in used | keys if i < width)
    if len(needed) == width:
        return rel
    kept = needed if rank.rank is None else [*needed, width]
    mapping = {old: new for new, old in enumerate(kept)}
    source = rank.input
    columns = identity(source.types)
    names = tuple(source.names[i] for i in needed)
    below = Calc(input=source, projection=tuple(columns[i] for i in needed), condition=None, names=names)
    above = replace(
        rel,
        input=remap_rank(rank, mapping, below),
        projection=tuple(remap(e, mapping) for e in rel.projection),
        condition=None if rel.condition is None else remap(rel.condition, mapping),
    )
    return above.input if is_trivial(above) else above


TRIM_RANKS = RuleSet("trim_ranks", (trim_rank,), Order.BOTTOM_UP, to_fixpoint=True)


def remap_rank(rank: Rank, mapping: dict[int, int], source: Rel) -> Rank:
    """The Top-N over another input, with its columns mapped to new positions."""
    range_ = rank.range
    if isinstance(range_, VariableRankRange):
        range_ = VariableRankRange(mapping[range_.end_index])
    return replace(
        rank,
        input=source,
        partition=tuple(sorted(mapping[p] for p in rank.partition)),
        order=tuple(replace(f, index=mapping[f.index]) for f in rank.order),
        range=range_,
    )


@rule(on=Rank)
def drop_constant_ranks(rel: Rank) -> Rel:
    """ConstantRankNumberColumnRemoveRule: a rank column with one possible value becomes a literal."""
    if rel.rank is None or rel.kind != "ROW_NUMBER":
        return rel
    if not isinstance(rel.range, ConstantRankRange) or rel.range.start != rel.range.end:
        return rel
    number = Literal(rel.range.start, rel.types[-1])
    return calc(_without_rank(rel), (*identity(rel.input.types), number), rel.names)


@rule(on=Calc, over=Rank)
def drop_unused_ranks(rel: Calc, rank: Rank) -> Rel:
    """RedundantRankNumberColumnRemoveRule: an unread rank column is removed."""
    if rank.rank is None:
        return rel
    used = set().union(*map(refs, rel.projection), refs(rel.condition))
    return rel if rank.input.width in used else merge_calc(replace(rel, input=_without_rank(rank)))


def _without_rank(rank: Rank) -> Rank:
    return replace(rank, rank=None)

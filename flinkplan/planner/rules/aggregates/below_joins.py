"""Aggregations below joins, where Flink expects that to cost less.

Sources: ``FlinkAggregateJoinTransposeRule``, ``SqlSplittableAggFunction``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ....plan.functions import aggregation_of, arithmetic
from ....plan.functions.aggregate import COUNT
from ....plan.functions.comparison import EQ, IS_NOT_NULL
from ....plan.functions.model import EmptyResult
from ....plan.record import Record, replace
from ....plan.rex import FUNCTION, Literal, RexNode
from ....plan.specs import AggregateCall, JoinType
from ....plan.types import BIGINT
from ...algebra.aggregations import reads_something, without_unread
from ...algebra.builders import project
from ...algebra.calls import aggregate_call, is_call_of
from ...algebra.logical import Aggregate, Join, Project, Values
from ...algebra.names import inferred, uniquify
from ...algebra.rel import Rel
from ...algebra.row_types import row_of
from ...metadata.estimates import Estimates
from ...metadata.join_kinds import is_lookup, join_keys
from ...metadata.uniqueness import are_columns_unique
from ...rex.expressions import (
    TRUE,
    and_,
    are_identity,
    case,
    cast,
    conjunctions,
    identity,
    is_call,
    refs,
    remap,
    retype,
    test,
)
from ..rule import rule
from .functions import without_averages
from .groups import remove_distinct
from .projections import merge_columns


@rule(on=Aggregate)
def push_below_joins(rel: Aggregate) -> Rel:
    """An aggregation over an inner equi-join becomes a join of aggregations, with one above, if that is cheaper.

    AVG is split into SUM and COUNT for that.
    """
    if rel.grouping_sets is not None:
        return rel
    reduced = without_averages(rel)
    if reduced is None:
        return _pushed_if_cheaper(rel)
    pushed = _pushed_if_cheaper(reduced.input)
    return rel if pushed is reduced.input else _cheaper(replace(reduced, input=pushed), rel)


def _cheaper(pushed: Rel, rel: Rel) -> Rel:
    estimates = Estimates(recounts=False)
    return pushed if estimates.cost(pushed) < estimates.cost(rel) else rel


def _pushed_if_cheaper(rel: Rel) -> Rel:
    if not isinstance(rel, Aggregate) or not _is_splittable(rel):
        return rel
    merged = merge_columns(rel)
    aggregate = merged.input if isinstance(merged, Project) else merged
    if not isinstance(aggregate, Aggregate) or not isinstance(aggregate.input, Join) or is_lookup(aggregate.input):
        return rel
    pushed = _pushed(aggregate, aggregate.input)
    if pushed is None:
        return rel
    if _cheaper(pushed, aggregate) is aggregate:
        return rel
    return replace(merged, input=pushed) if isinstance(merged, Project) else pushed


def _is_splittable(rel: Aggregate) -> bool:
    return all(aggregation_of(c.internal_name).is_splittable and c.filter_arg < 0 and not c.distinct for c in rel.calls)


class _Side(Record):
    """An input of the new join: where the columns of the old join are in it, and its part of each call."""

    rel: Rel
    columns: dict[int, int]
    parts: dict[int, int]
    is_aggregated: bool

    def moved(self, by: int) -> _Side:
        """The side with column positions of the whole join."""
        columns = {old: new + by for old, new in self.columns.items()}
        return replace(self, columns=columns, parts={i: at + by for i, at in self.parts.items()})


def _pushed(rel: Aggregate, join: Join) -> Rel | None:
    """The join of the aggregated inputs, and the expressions that combine them; ``None`` where nothing is gained."""
    width = join.left.width
    if join.type is not JoinType.INNER or join_keys(join.condition, width).rest:
        return None
    read = refs(join.condition)
    needed = sorted({*rel.grouping, *read})
    left = _side(rel, join.left, [i for i in needed if i < width], 0)
    right = _side(rel, join.right, [i for i in needed if i >= width], width)
    if not (left.is_aggregated or right.is_aggregated):
        return None
    right = right.moved(left.rel.width)
    place = left.columns | right.columns
    types = (*left.rel.types, *right.rel.types)
    condition = retype(remap(join.condition, place), types)
    joined = Join(left=left.rel, right=right.rel, type=join.type, condition=condition)
    exprs: list[RexNode] = list(identity(types))
    calls = []
    for i, call in enumerate(rel.calls):
        total = _total(call, [exprs[side.parts[i]] for side in (left, right) if i in side.parts])
        calls.append(_merging(call, _place(total, exprs)))
    source = _computed(joined, exprs, inferred(joined.names, exprs))
    grouping = tuple(place[g] for g in rel.grouping)
    if _equated(rel.grouping, join.condition) >= read:
        names = (*left.rel.names, *right.rel.names)
        return _as_projection(source, grouping, calls, names if source is joined else source.names)
    merging = replace(rel, input=source, grouping=grouping, calls=tuple(calls))
    return remove_distinct(without_unread(merging, source) if isinstance(source, Project) else merging)


def _side(rel: Aggregate, source: Rel, needed: list[int], first: int) -> _Side:
    """The aggregated input; its columns begin at ``first`` in the old join."""
    keys = [i - first for i in needed]
    places = {old: new for new, old in enumerate(needed)}
    reads = range(first, first + source.width)
    own = {
        i: replace(call, arg_list=tuple(a - first for a in call.arg_list))
        for i, call in enumerate(rel.calls)
        if all(a in reads for a in call.arg_list)
    }
    if are_columns_unique(source, keys):
        exprs: list[RexNode] = [identity(source.types)[k] for k in keys]
        parts = {}
        for i, call in own.items():
            if call.arg_list:
                value = _value_for_one_row(call, source)
                is_key = value in exprs[: len(keys)]
                parts[i] = exprs.index(value) if is_key else len(exprs)
                exprs += [] if is_key else [value]
        names = uniquify(inferred(source.names, exprs))
        return _Side(_computed(source, exprs, names), places, parts, is_aggregated=False)
    calls: dict[AggregateCall, AggregateCall] = {}
    parts = {}
    for i, call in enumerate(rel.calls):
        part = _part(own[i], source, keys) if i in own else _number_of_rows(call)
        if part is not None:
            unnamed = replace(part, name=None)
            calls.setdefault(unnamed, part)
            parts[i] = len(keys) + list(calls).index(unnamed)
    return _Side(push_below_joins(_aggregate(source, keys, calls.values())), places, parts, is_aggregated=True)


def _aggregate(source: Rel, keys: list[int], calls: Iterable[AggregateCall]) -> Rel:
    calls = tuple(calls)
    if not keys and not calls:
        return Values(tuples=((TRUE,),), fields=row_of(["dummy"], [TRUE.type]))
    new = Aggregate(input=source, grouping=tuple(keys), calls=calls)
    if not reads_something(new):
        return new
    return without_unread(new, project(source, identity(source.types), source.names))


def _part(call: AggregateCall, source: Rel, keys: list[int]) -> AggregateCall:
    """The call over the rows of one side: nullable only where its argument is, or where there may be no rows."""
    if aggregation_of(call.internal_name).empty_result is EmptyResult.ZERO:
        return call
    nullable = source.types[call.arg_list[0]].nullable or not keys
    return replace(call, type=call.type.with_nullability(nullable))


def _number_of_rows(call: AggregateCall) -> AggregateCall | None:
    """The number of rows of the other side, by which counted and summed rows are repeated."""
    is_repeated = not aggregation_of(call.internal_name).selects_argument
    return aggregate_call(COUNT, (), BIGINT.not_null()) if is_repeated else None


def _value_for_one_row(call: AggregateCall, source: Rel) -> RexNode:
    """The call's result for a single row."""
    values = [identity(source.types)[a] for a in call.arg_list]
    if not is_call_of(call, COUNT):
        return _typed(values[0], call)
    one, zero = (Literal(n, call.type.not_null()) for n in (1, 0))
    counted = [test(IS_NOT_NULL, v) for v in values if v.type.nullable]
    return case([and_(counted), one, zero], one.type) if counted else one


def _typed(rex: RexNode, call: AggregateCall) -> RexNode:
    """The expression cast to the call's type, nullable only where both are."""
    return cast(rex, call.type.with_nullability(rex.type.nullable and call.type.nullable))


def _total(call: AggregateCall, parts: list[RexNode]) -> RexNode:
    """The product of the parts of both sides, because each row of one side meets each of the other."""
    if len(parts) == 1:
        return parts[0]
    product = arithmetic.TIMES.call(*parts)
    return product if is_call_of(call, COUNT) else cast(product, call.type)


def _merging(call: AggregateCall, at: int) -> AggregateCall:
    """The call that merges partial results."""
    return replace(call, internal_name=aggregation_of(call.internal_name).merged_by, syntax=FUNCTION, arg_list=(at,))


def _place(rex: RexNode, exprs: list[RexNode]) -> int:
    """The position of an expression in a list, to which it is appended if it is not in it."""
    if rex not in exprs:
        exprs.append(rex)
    return exprs.index(rex)


def _computed(source: Rel, exprs: list[RexNode], names: Sequence[str]) -> Rel:
    return source if are_identity(exprs, source.types) else project(source, exprs, names)


def _equated(columns: Iterable[int], condition: RexNode) -> set[int]:
    """The columns and those that the condition sets equal to them."""
    equated = set(columns)
    pairs = [refs(part) for part in conjunctions(condition) if is_call(part, EQ)]
    return equated.union(*(pair for pair in pairs if pair & equated))


def _as_projection(
    source: Rel, grouping: Iterable[int], calls: Iterable[AggregateCall], names: Sequence[str]
) -> Project:
    """The aggregation where each group is a single row: a projection."""
    fields = identity(source.types)
    exprs = [*(fields[g] for g in grouping), *(_typed(fields[c.arg_list[0]], c) for c in calls)]
    return project(source, exprs, uniquify(inferred(names, exprs)))

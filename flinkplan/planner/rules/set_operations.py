"""Set operations as joins and aggregates.

Sources: ``UnionToDistinctRule``, ``ReplaceIntersectWithSemiJoinRule``, ``ReplaceMinusWithAntiJoinRule``.
"""

from __future__ import annotations

from functools import reduce

from ...plan.functions.aggregate import COUNT, SUM
from ...plan.functions.comparison import EQ, GE, GT, IS_NULL
from ...plan.functions.conditional import IF
from ...plan.functions.table import REPLICATE_ROWS
from ...plan.record import replace
from ...plan.rex import InputRef, Literal, RexNode
from ...plan.specs import AggregateCall, JoinType
from ...plan.types import BIGINT, BOOLEAN, INT
from ..algebra.builders import append_columns, distinct, filtered, select_columns
from ..algebra.calls import aggregate_call
from ..algebra.logical import Aggregate, Correlate, Join, Project, SetKind, SetOp
from ..algebra.rel import Rel
from ..algebra.row_types import pick
from ..rex.expressions import and_, cast, compare, identity, or_, test
from .merged_projections import remove_identity
from .projections import push_past_aggregate
from .rule import rule


@rule(on=SetOp)
def rewrite_union(rel: SetOp) -> Rel:
    """UNION becomes an aggregation over UNION ALL."""
    if rel.kind is not SetKind.UNION:
        return rel
    union = _union(rel)
    return union if rel.all else without_distinct_operands.applied(distinct(union))


@rule(on=SetOp)
def rewrite_set_operation(rel: SetOp) -> Rel:
    """INTERSECT and EXCEPT become aggregations over semi and anti joins."""
    if rel.kind is SetKind.UNION:
        return rel
    if rel.all:
        return reduce(_intersect_all if rel.kind is SetKind.INTERSECT else _except_all, rel.operands)
    kind = JoinType.SEMI if rel.kind is SetKind.INTERSECT else JoinType.ANTI
    return distinct(reduce(lambda a, b: _compared(kind, a, b), rel.operands))


def _except_all(left: Rel, right: Rel) -> Rel:
    """RewriteMinusAllRule: each row as often as it is more on the left than on the right."""
    marker = BIGINT.not_null()
    union = _marked_union(left, right, [(Literal(1, marker),), (Literal(-1, marker),)], ["vcol_marker"])
    width = left.width
    call = aggregate_call(SUM, [width], marker, name="sum_vcol_marker")
    grouped = _per_row(union, width, [call])
    count = InputRef(width, marker)
    kept = filtered(grouped, [compare(GT, count, Literal(0, INT.not_null()))])
    return _replicated(kept, count, "sum_vcol_marker", width)


def _intersect_all(left: Rel, right: Rel) -> Rel:
    """RewriteIntersectAllRule: each row as often as the side that has it less."""
    yes, no = Literal(True, BOOLEAN.not_null()), Literal(None, BOOLEAN)
    union = _marked_union(left, right, [(yes, no), (no, yes)], ["vcol_left_marker", "vcol_right_marker"])
    width = left.width
    counter = BIGINT.not_null()
    calls = [
        aggregate_call(COUNT, [width], counter, name="vcol_left_cnt"),
        aggregate_call(COUNT, [width + 1], counter, name="vcol_right_cnt"),
    ]
    grouped = _per_row(union, width, calls)
    ours, theirs = InputRef(width, counter), InputRef(width + 1, counter)
    one = Literal(1, INT.not_null())
    kept = filtered(grouped, [compare(GE, ours, one), compare(GE, theirs, one)])
    fewer = IF.typed(counter, compare(GT, ours, theirs), theirs, ours)
    return _replicated(kept, fewer, "$f0", width)


def _marked_union(left: Rel, right: Rel, markers: list[tuple[RexNode, ...]], names: list[str]) -> SetOp:
    left, right = map(_trimmed, (left, right))
    sides = (append_columns(left, markers[0], names), append_columns(right, markers[1], names))
    return SetOp(kind=SetKind.UNION, all=True, operands=sides)


def _trimmed(rel: Rel) -> Rel:
    """An operand as Flink's planner knows it by then: without unread calls, nor the projection that this leaves."""
    if isinstance(rel, Project) and isinstance(rel.input, Aggregate):
        rel = push_past_aggregate.applied(rel)
    return remove_identity.applied(rel) if isinstance(rel, Project) else rel


def _per_row(rel: Rel, width: int, calls: list[AggregateCall]) -> Aggregate:
    return Aggregate(input=rel, grouping=tuple(range(width)), calls=tuple(calls))


def _replicated(rel: Rel, count: RexNode, name: str, width: int) -> Rel:
    """Each row repeated ``count`` times, by a table function."""
    exprs = (count, *identity(rel.types)[:width])
    names = (name, *rel.names[:width])
    counted = Project(input=rel, exprs=exprs, names=names)
    replicated = pick(rel.row_type, range(width)).not_null()
    call = REPLICATE_ROWS.typed(replicated, *identity(counted.types))
    joined = Correlate(
        input=counted,
        type=JoinType.INNER,
        correl="",
        call=call,
        function_type=replicated,
        aliases=replicated.field_names,
    )
    columns = identity(joined.types)[width + 1 :]
    return Project(input=joined, exprs=columns, names=rel.names[:width])


def _compared(kind: JoinType, left: Rel, right: Rel) -> Rel:
    width = left.width
    condition = and_(
        _null_safe(a, InputRef(i + width, b.type))
        for i, (a, b) in enumerate(zip(identity(left.types), identity(right.types), strict=True))
    )
    return Join(left=left, right=right, type=kind, condition=condition)


@rule(on=Aggregate, over=SetOp)
def without_distinct_operands(rel: Aggregate, below: SetOp) -> Aggregate:
    """AggregateUnionAggregateRule: DISTINCT inputs of a UNION below a DISTINCT need no aggregation."""

    def plain(operand: Rel) -> Rel:
        if isinstance(operand, Aggregate) and not operand.calls and operand.grouping_sets is None:
            return select_columns(operand.input, operand.grouping)
        return operand

    return rel if rel.calls else replace(rel, input=replace(below, operands=tuple(map(plain, below.operands))))


def _null_safe(a: RexNode, b: RexNode) -> RexNode:
    """IS NOT DISTINCT FROM, spelled out as Calcite does."""
    equal = compare(EQ, a, b)
    if not (a.type.nullable and b.type.nullable):
        return equal
    return or_([equal, and_([test(IS_NULL, a), test(IS_NULL, b)])])


def _union(rel: SetOp) -> SetOp:
    """The operands brought to the common types (CoerceInputsRule)."""
    return replace(rel, all=True, operands=tuple(_coerced(o, rel) for o in rel.operands))


def _coerced(rel: Rel, union: SetOp) -> Rel:
    wanted = union.types
    if all(t.nullable_() == w.nullable_() for t, w in zip(rel.types, wanted, strict=True)):
        return rel
    exprs: tuple[RexNode, ...] = tuple(
        cast(r, w.with_nullability(r.type.nullable)) for r, w in zip(identity(rel.types), wanted, strict=True)
    )
    return Project(input=rel, exprs=exprs, names=rel.names)

"""Aggregations that answer a subquery: counts, extreme values, the distinct rows, the only value."""

from __future__ import annotations

from ...plan.functions import Function
from ...plan.functions.aggregate import COUNT, MAX, MIN, SINGLE_VALUE
from ...plan.functions.comparison import GE, GT, LE, LT
from ...plan.record import replace
from ...plan.types import BIGINT
from ..algebra.builders import aggregated, append_columns, distinct, select_columns
from ..algebra.calls import aggregate_call, is_call_of
from ..algebra.logical import Aggregate, Project
from ..algebra.names import inferred
from ..algebra.rel import Rel
from ..rex.expressions import TRUE, cast, identity

DECIDING_VALUE = {LT: MAX, LE: MAX, GT: MIN, GE: MIN}
"""The aggregate function whose value decides a SOME comparison."""

COUNT_ROWS = aggregate_call(COUNT, (), BIGINT.not_null(), name="c")


def row_counts(rel: Rel) -> Rel:
    """The aggregation to the number of rows, and of rows without NULL."""
    nullable = tuple(i for i, t in enumerate(rel.types) if t.nullable)
    if nullable:
        counted = replace(COUNT_ROWS, name="ck", arg_list=tuple(range(len(nullable))))
        return aggregated(select_columns(rel, nullable), [COUNT_ROWS, counted])
    return _with_repeated_column(aggregated(select_columns(rel, ()), [COUNT_ROWS]), "ck")


def extreme_value(rel: Rel, comparison: Function) -> Rel:
    """The aggregation to MIN or MAX, the number of rows and that of values that are not NULL."""
    t = rel.types[0]
    extreme = aggregate_call(DECIDING_VALUE[comparison], [0], t.nullable_(), name="m")
    if t.nullable:
        return aggregated(rel, [extreme, COUNT_ROWS, replace(COUNT_ROWS, name="d", arg_list=(0,))])
    return _with_repeated_column(aggregated(rel, [extreme, COUNT_ROWS]), "d")


def distinct_counts(rel: Rel) -> Rel:
    """The aggregation to the numbers of distinct rows and values, and the greatest value."""
    t = rel.types[0]
    greatest = aggregate_call(MAX, [0], t.nullable_(), name="m")
    values = replace(COUNT_ROWS, name="d", arg_list=(0,))
    if t.nullable:
        return aggregated(distinct(rel), [COUNT_ROWS, values, greatest])
    counts = aggregated(distinct(rel), [COUNT_ROWS, greatest])
    rows, m = identity(counts.types)
    return Project(input=counts, exprs=(rows, rows, m), names=("c", "d", "m"))


def distinct_counts_by_call(rel: Rel) -> Rel:
    """The aggregation to the number of rows, that of distinct values, and the greatest value.

    The number of rows is marked DISTINCT too, which means nothing without an argument.
    """
    rows = replace(COUNT_ROWS, distinct=True)
    values = replace(rows, name="d", arg_list=(0,))
    return aggregated(rel, [rows, values, aggregate_call(MAX, [0], rel.types[0].nullable_(), name="m")])


def _with_repeated_column(rel: Rel, name: str) -> Rel:
    """The relation with its last column repeated under another name."""
    return append_columns(rel, [identity(rel.types)[-1]], [name])


def marked_rows(rel: Rel, name: str) -> Rel:
    """The distinct rows with a column TRUE."""
    return append_columns(distinct(rel), [TRUE], [name])


def single_value(rel: Rel) -> Rel:
    """The only value of a relation, by SINGLE_VALUE, which fails at run time if there are several rows."""
    call = aggregate_call(SINGLE_VALUE, [0], rel.types[0].nullable_())
    return Aggregate(input=rel, grouping=(), calls=(call,))


def called_by_place(rel: Rel) -> Rel:
    """The marker column of distinct rows loses its name when correlated subqueries are decorrelated.

    Constants among grouping columns are removed there and added anew.  Source: ``RelDecorrelator``.
    """
    match rel:
        case Project(input=Aggregate(calls=()) as rows, exprs=exprs) if exprs == (*identity(rows.types), TRUE):
            return replace(rel, names=inferred(rows.names, exprs))
    return rel


def without_check(rel: Rel) -> Rel:
    """Remove SINGLE_VALUE over an aggregation without groups, which has one row.

    Flink does so only when it decorrelates.  Source: ``RemoveSingleAggregateRule``.
    """
    match rel:
        case Aggregate(
            grouping=(),
            calls=(call,),
            input=Project(input=Aggregate(grouping=(), grouping_sets=None) as row, exprs=(value,)),
        ) if is_call_of(call, SINGLE_VALUE):
            one = cast(value, value.type.nullable_())
            return Project(input=row, exprs=(one,), names=rel.input.names)
    return rel

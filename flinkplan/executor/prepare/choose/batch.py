"""The operators of batch plans that streaming mode does not have.

All rows are there, and only results count: so the local phases of aggregations, ranks and limits are left to the global
ones, and a sort to the operator that reads sorted rows, unless its order shows in what is written.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....plan.document import Plan
from ....plan.errors import UnsupportedError
from ....plan.nodes import (
    BatchAggregate,
    BatchExchange,
    BatchHashJoin,
    BatchLimit,
    BatchNestedLoopJoin,
    BatchRank,
    BatchSort,
    BatchSortLimit,
    ExecNode,
    Sort,
)
from ....plan.settings import is_batch_mode
from ....plan.specs import SortField
from ...aggregate_functions import check_calls, function_name
from ..known.native_calls import BATCH_ONLY, check_native_in_batch, is_native_in_batch
from ..known.settled_joins import native_type
from ..known.sorted_rows import order_of, readers, serves_operators
from ..query import QueryPlan, chooser
from ..refusals import refusal
from ..steps import Native, PassedBy
from .aggregates import KernelGroups, NativeGroups, final_groups, samples_groups
from .joins import NativeJoin

NO_END = 2**63 - 1
"""The end of a limit without FETCH."""

_BY_SPARK = "Spark chooses how by the sizes that it sees"
_ALL_ROWS = "all rows are there"
_ONLY_GLOBAL = PassedBy(why="the global phase does all")


class NativeSort(Native, kw_only=True):
    """All rows in one task, in an order; ``nets``: of a changelog, those that stay."""

    order: tuple[SortField, ...]
    nets: bool = False


class NativeLimit(Native, kw_only=True):
    """The rows from ``start``, counted from 0, to before ``end``, in the order of ``order``, then as they were read.

    ``nets``: of a changelog, of those that stay.
    """

    order: tuple[SortField, ...]
    start: int
    end: int
    nets: bool = False


class NativeRank(Native, kw_only=True):
    """The rows whose rank in their partition is from ``start`` to ``end``; ``shows_rank``: it is a column.

    ``is_dense``: ranks have no gaps.  ``nets``: of a changelog, of the rows that stay.
    """

    partition: tuple[int, ...]
    order: tuple[SortField, ...]
    start: int
    end: int
    shows_rank: bool
    is_dense: bool = False
    nets: bool = False


@chooser(BatchHashJoin)
def hash_join(node: BatchHashJoin, query: QueryPlan) -> NativeJoin:
    """Spark's own join."""
    return _join(node)


@chooser(BatchNestedLoopJoin)
def nested_loop_join(node: BatchNestedLoopJoin, query: QueryPlan) -> NativeJoin:
    """Spark's own join; keys that its condition compares for equality are found by Spark."""
    return _join(node)


def _join(node: BatchHashJoin | BatchNestedLoopJoin) -> NativeJoin:
    kind = native_type(node.join_spec.join_type)
    return NativeJoin(operators="Join", why=_BY_SPARK, kind=kind, changelog=False, ordered=False)


def _previous_phase(node: BatchAggregate, plan: Plan) -> BatchAggregate | None:
    """The phase whose accumulators an aggregation merges; ``None`` if it reads rows.

    Raises :class:`UnsupportedError` where it merges what no aggregation has made.
    """
    if not node.is_merge:
        return None
    (below,) = plan.inputs(node)
    while isinstance(below, (BatchExchange, BatchSort)):
        (below,) = plan.inputs(below)
    if not isinstance(below, BatchAggregate) or below.is_final:
        raise UnsupportedError("an aggregation that merges the accumulators of no local phase")
    return below


def _first_phase(node: BatchAggregate, plan: Plan) -> tuple[BatchAggregate, tuple[int, ...]]:
    """The phase that reads rows, and the columns of these rows that ``node`` groups by."""
    previous = _previous_phase(node, plan)
    if previous is None:
        return node, node.all_keys
    first, keys = _first_phase(previous, plan)
    return first, tuple(keys[key] for key in node.all_keys)


def _check_aggregate(node: BatchAggregate, plan: Plan, options: Mapping[str, str]) -> None:
    first, _ = _first_phase(node, plan)
    (source,) = plan.inputs(first)
    check_native_in_batch(first.agg_calls, source.output_type)
    check_calls(call for call in node.agg_calls if function_name(call) not in BATCH_ONLY)
    if not node.is_final and not all(_merges(reader) for reader in readers(plan, node)):
        raise UnsupportedError("accumulators that another operator than an aggregation reads")


def _merges(node: ExecNode) -> bool:
    return isinstance(node, BatchAggregate) and node.is_merge


@chooser(BatchAggregate, check=_check_aggregate)
def aggregate(node: BatchAggregate, query: QueryPlan) -> NativeGroups | KernelGroups | PassedBy:
    """The whole aggregation in its last phase: Spark's own, or a kernel for functions that Spark computes otherwise."""
    if not node.is_final:
        return _ONLY_GLOBAL
    first, keys = _first_phase(node, query.plan)
    source, calls = query.input(first), first.agg_calls
    if is_native_in_batch(calls, source.output_type):
        return NativeGroups(
            operators="groupBy",
            why=_ALL_ROWS,
            grouping=keys,
            calls=calls,
            traced=False,
            samples=samples_groups(source, keys, calls, query),
            one_row=not keys,
        )
    return final_groups(keys, calls, source.output_type, node.output_type, query.keys(node))


@chooser(BatchSort)
def sort(node: BatchSort, query: QueryPlan) -> NativeSort | PassedBy:
    """The rows in order, unless operators alone read them that bring them into order by themselves."""
    if serves_operators(query.plan, node):
        return PassedBy(why="the operator behind sorts its rows")
    return NativeSort(operators="Sort", why="ORDER BY", shuffle=(), order=node.sort_spec.fields)


@chooser(BatchLimit)
def limit(node: BatchLimit, query: QueryPlan) -> NativeLimit | PassedBy:
    """The first rows in the order in which they were read."""
    return _limit(node, (), query)


@chooser(BatchSortLimit)
def sort_limit(node: BatchSortLimit, query: QueryPlan) -> NativeLimit | PassedBy:
    """The first rows in an order."""
    return _limit(node, node.sort_spec.fields, query)


def _check_full_sort(node: Sort, plan: Plan, options: Mapping[str, str]) -> None:
    if not is_batch_mode(options):
        raise refusal(node)


@chooser(Sort, check=_check_full_sort)
def full_sort(node: Sort, query: QueryPlan) -> NativeSort:
    """The rows that stay in order, where what comes out in the end is all that is wanted."""
    if not query.is_final:
        raise refusal(node)
    nets = query.must_net(query.input(node))
    return NativeSort(operators="Sort", why="ORDER BY", shuffle=(), order=node.order_by.fields, nets=nets)


def _limit(node: BatchLimit | BatchSortLimit, order: tuple[SortField, ...], query: QueryPlan) -> NativeLimit | PassedBy:
    behind = readers(query.plan, node)
    if not node.is_global and all(type(reader) is type(node) and reader.is_global for reader in behind):
        return _ONLY_GLOBAL
    return NativeLimit(
        operators="Sort, Limit",
        why=_ALL_ROWS,
        shuffle=(),
        order=order,
        start=node.limit_start,
        end=node.limit_end,
    )


def _check_rank(node: BatchRank, plan: Plan, options: Mapping[str, str]) -> None:
    _rank_order(node, plan)


def _rank_order(node: BatchRank, plan: Plan) -> tuple[SortField, ...]:
    """The order of a rank: the node has its columns, and the sort of its input the directions.

    Raises :class:`UnsupportedError` where the input is not sorted by them.
    """
    (source,) = plan.inputs(node)
    directions = {each.index: each for each in reversed(order_of(plan, source))}
    if not all(index in directions for index in node.sort_fields):
        raise UnsupportedError("a rank over rows that are not sorted by its columns")
    return tuple(directions[index] for index in node.sort_fields)


@chooser(BatchRank, check=_check_rank)
def rank(node: BatchRank, query: QueryPlan) -> NativeRank | PassedBy:
    """Spark's own RANK; a local phase is left to the global one."""
    if node.rank_start == 1 and all(_ranks_again(reader, node) for reader in readers(query.plan, node)):
        return _ONLY_GLOBAL
    return NativeRank(
        operators="Window, Filter",
        why=_ALL_ROWS,
        shuffle=query.keys(node),
        partition=node.partition_fields,
        order=_rank_order(node, query.plan),
        start=node.rank_start,
        end=node.rank_end,
        shows_rank=node.output_row_number,
    )


def _ranks_again(reader: ExecNode, node: BatchRank) -> bool:
    """Whether a rank keeps none of the rows that ``node`` would leave out, and reads no column that it adds."""
    if not isinstance(reader, BatchRank) or node.output_row_number:
        return False
    is_same = (reader.partition_fields, reader.sort_fields) == (node.partition_fields, node.sort_fields)
    return is_same and reader.rank_end <= node.rank_end

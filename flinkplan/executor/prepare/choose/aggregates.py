"""GROUP BY, in one phase or several.

The phases of a mini-batch aggregation come to one here: the local phase is passed by, the global one aggregates the
local one's input; a kernel folds a batch's rows of a group anyway.  In a batch Spark aggregates rows that stay by
itself, where only what a group comes to counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....plan.document import Plan
from ....plan.nodes import (
    ExecNode,
    GlobalGroupAggregate,
    GroupAggregate,
    IncrementalGroupAggregate,
    LocalGroupAggregate,
    LookupJoin,
    TableSourceScan,
    WatermarkAssigner,
)
from ....plan.record import Record
from ....plan.settings import is_batch_mode
from ....plan.specs import AggregateCall
from ....plan.types import LogicalType, row
from ...aggregate_functions import check_calls, check_method, folds_exactly
from ..known.input_size import is_large
from ..known.key_types import key_type
from ..known.native_calls import check_native_in_batch, is_native_in_batch, is_traced
from ..known.row_order import PASSING, moves_by_each_row
from ..query import QueryPlan, chooser
from ..steps import FOLDS_ROWS, Kernel, Native, PassedBy, accumulators, with_ttl
from ..watermarks import row_by_row

MANY_GROUPS = 0.8
"""Groups are many where of a task's rows so many are of a group that none before them is of."""

_SAMPLES = (
    f"decided while it runs: where {MANY_GROUPS:.0%} of the first task's rows are of groups of their own, rows are "
    "shuffled before they are aggregated"
)
MINI_BATCH_ENABLED = "table.exec.mini-batch.enabled"


class NativeGroups(Native, kw_only=True):
    """Spark's own aggregation of rows that all stay.

    ``grouping`` and ``calls`` are over the node's input.  ``traced``: each group has the number of the row that changed
    it last, not that of its last row.  ``samples``: whether rows are brought together by group before Spark aggregates
    them is decided by the first task's rows.  ``one_row``: there is a row also where no rows come.
    """

    grouping: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    traced: bool
    samples: bool
    one_row: bool

    @property
    def notes(self) -> tuple[str, ...]:
        return (_SAMPLES,) if self.samples else ()


class KernelGroups(Kernel, kw_only=True):
    """One updating row a group.

    ``grouping`` and ``calls`` are over the node's input, ``output_type`` is what comes of them.  ``inserts``: all rows
    that come are insertions, also in a changelog.  ``update_before``: a row is taken back before it is updated.
    ``folds``: the changes of a batch to a group come to one.  ``folds_rows``: the rows of a batch are folded by group
    in each task, before they are sent to their groups.  ``numbered``: a group has the number of the row that changed it
    last.  ``ttl``: of the state, in milliseconds; 0: none.  ``one_row``: there is a row also where no rows come.
    """

    grouping: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    output_type: LogicalType
    inserts: bool
    update_before: bool
    folds: bool
    folds_rows: bool
    numbered: bool
    ttl: int
    one_row: bool

    @property
    def notes(self) -> tuple[str, ...]:
        return (FOLDS_ROWS,) if self.folds_rows else ()


def _check(node: GroupAggregate | LocalGroupAggregate, plan: Plan, options: Mapping[str, str]) -> None:
    calls: Sequence[AggregateCall] = node.agg_calls
    if is_batch_mode(options) and not any(node.agg_call_need_retractions):
        calls = check_native_in_batch(calls, plan.inputs(node)[0].output_type)
    check_calls(calls)
    for call, retracts in zip(node.agg_calls, node.agg_call_need_retractions, strict=True):
        if retracts:
            check_method(call, "retract", "an aggregation of rows that are taken back")


@chooser(LocalGroupAggregate, check=_check, real_time=row_by_row)
def local_group_aggregate(node: LocalGroupAggregate, query: QueryPlan) -> PassedBy:
    """Left to the global phase."""
    return PassedBy(why="the global phase does all")


@chooser(GroupAggregate, check=_check, real_time=row_by_row)
def group_aggregate(node: GroupAggregate, query: QueryPlan) -> NativeGroups | KernelGroups:
    """The aggregation in one phase; in mini-batches the changes of a batch come to one always, as in Flink."""
    folds = node.option(MINI_BATCH_ENABLED, "false") == "true" or query.folds_at(node)
    return _choose(node, query, node.grouping, node.agg_calls, node.output_type, folds=folds)


@chooser(GlobalGroupAggregate, real_time=row_by_row)
def global_group_aggregate(node: GlobalGroupAggregate, query: QueryPlan) -> NativeGroups | KernelGroups:
    """The whole aggregation of what the local phase passed by, or of the results of an incremental phase."""
    local = _local_phase(node, query)
    if local is None:
        partial = query.step(query.input(query.input(node)))
        rows = _rows_of(query.input(node), query)
        if isinstance(partial, KernelGroups):  # which emits other columns than Flink's phase
            rows = _Rows(partial.output_type, is_changelog=True)
        return _kernel(node, query, rows, node.grouping, node.agg_calls, node.output_type, node.generate_update_before)
    return _choose(node, query, local.grouping, local.agg_calls, node.output_type, folds=True)


@chooser(IncrementalGroupAggregate, real_time=row_by_row)
def incremental_group_aggregate(node: IncrementalGroupAggregate, query: QueryPlan) -> KernelGroups:
    """The aggregation by the partial keys; the global phase aggregates its results once more."""
    local = _local_phase(node, query)
    assert local is not None, "an incremental phase follows a local one"
    fields = [query.input(local).fields[g] for g in local.grouping]
    results = [(f"$f{i}", call.type) for i, call in enumerate(local.agg_calls)]
    partial = row([*((f.name, f.type) for f in fields), *results])
    return _kernel(node, query, _rows_of(query.input(local), query), local.grouping, local.agg_calls, partial, True)


def _local_phase(node: ExecNode, query: QueryPlan) -> LocalGroupAggregate | None:
    """The local phase that a node is the global one of."""
    below = query.input(query.input(node))
    return below if isinstance(below, LocalGroupAggregate) else None


def _choose(
    node: GroupAggregate | GlobalGroupAggregate,
    query: QueryPlan,
    grouping: Sequence[int],
    calls: Sequence[AggregateCall],
    output_type: LogicalType,
    *,
    folds: bool,
) -> NativeGroups | KernelGroups:
    """Spark's own aggregation where it comes to the same: results are wanted once a group, and rows stay."""
    local = _local_phase(node, query) if isinstance(node, GlobalGroupAggregate) else None
    below = query.input(local or node)
    if query.is_batch and folds and query.joins.is_settled(below) and is_native_in_batch(calls, below.output_type):
        traced = _is_numbered(node, query, calls)
        if not traced or all(map(is_traced, calls)):
            return NativeGroups(
                operators="groupBy",
                why="all rows are there, and none is taken back",
                grouping=tuple(grouping),
                calls=tuple(calls),
                traced=traced,
                samples=samples_groups(below, grouping, calls, query),
                one_row=query.is_final and not grouping,
            )
    check_calls(calls)  # once more, for a kernel has none of batch mode only
    rows = _rows_of(below, query)
    return _kernel(node, query, rows, grouping, calls, output_type, node.generate_update_before, folds=folds)


def samples_groups(below: ExecNode, grouping: Sequence[int], calls: Sequence[AggregateCall], query: QueryPlan) -> bool:
    """Whether it is worth to look at some rows of ``below`` first: there are many, and the first come at once."""
    if not grouping or any(call.is_distinct for call in calls):
        return False
    if any(key_type(t) != t for t in (below.output_type.field_types[k] for k in grouping)):
        return False
    upstream = list(query.plan.upstream([below]))
    return all(map(_is_at_hand, upstream)) and is_large(upstream, query.variables)


def _is_at_hand(node: ExecNode) -> bool:
    """Whether a node yields the first task's rows without having read those of others, or asked a database."""
    return isinstance(node, (*PASSING, TableSourceScan, WatermarkAssigner)) and not isinstance(node, LookupJoin)


class _Rows(Record):
    """The rows that come to a kernel: their type, and whether there may be other changes than inserts."""

    type: LogicalType
    is_changelog: bool


def _rows_of(node: ExecNode, query: QueryPlan) -> _Rows:
    return _Rows(node.output_type, query.is_changelog(node))


def _kernel(
    node: GroupAggregate | GlobalGroupAggregate | IncrementalGroupAggregate,
    query: QueryPlan,
    rows: _Rows,
    grouping: Sequence[int],
    calls: Sequence[AggregateCall],
    output_type: LogicalType,
    update_before: bool,
    *,
    folds: bool = True,
) -> KernelGroups:
    folds = folds and not query.is_real_time
    ttl = node.ttl_ms()
    inserts = query.is_batch and query.joins.is_settled(query.input(node))
    numbered = folds and ttl == 0 and _is_numbered(node, query, calls)
    is_insert_only = inserts or not rows.is_changelog
    folds_rows = folds and not numbered and is_insert_only and all(folds_exactly(call, rows.type) for call in calls)
    return KernelGroups(
        kernel="aggregate.GroupAggregate",
        why="each group's state expires by itself, and changes come out as rows",
        shuffle=query.keys(node),
        states=(with_ttl("ValueState", "accumulators", f"rows, {accumulators(calls)}", ttl),),
        grouping=tuple(grouping),
        calls=tuple(calls),
        output_type=output_type,
        inserts=inserts,
        update_before=update_before,
        folds=folds,
        folds_rows=folds_rows,
        numbered=numbered,
        ttl=ttl,
        one_row=query.is_final and not grouping,
    )


def final_groups(
    grouping: tuple[int, ...],
    calls: tuple[AggregateCall, ...],
    row: LogicalType,
    output_type: LogicalType,
    shuffle: tuple[str, ...],
) -> KernelGroups:
    """A kernel over rows of the type ``row`` that are all there and stay, of which one row a group comes out."""
    return KernelGroups(
        kernel="aggregate.GroupAggregate",
        why="Spark does not have all of its functions, or computes them otherwise",
        shuffle=shuffle,
        grouping=grouping,
        calls=calls,
        output_type=output_type,
        inserts=True,
        update_before=False,
        folds=True,
        folds_rows=all(folds_exactly(call, row) for call in calls),
        numbered=False,
        ttl=0,
        one_row=not grouping,
    )


def _is_numbered(node: ExecNode, query: QueryPlan, calls: Sequence[AggregateCall]) -> bool:
    """Whether something behind looks at when a group changed last, and that need not have been its last row."""
    return node.id in query.numbered and not any(map(moves_by_each_row, calls))

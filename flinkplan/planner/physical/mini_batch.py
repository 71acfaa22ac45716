"""Mini-batches: where assigners mark them, and aggregations in two phases.

Sources: ``MiniBatchIntervalInferRule``, ``TwoStageOptimizedAggregateRule``, ``IncrementalAggregateRule``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...plan.accumulator_columns import accumulators, is_count_star
from ...plan.durations import parse_duration
from ...plan.errors import UnsupportedError
from ...plan.functions.aggregate import ROW_NUMBER
from ...plan.record import cached_on_record, replace
from ...plan.settings import MINI_BATCH, MINI_BATCH_LATENCY, PHASES, is_on, value_of
from ...plan.types import TimeKind
from ..algebra import physical as p
from ..algebra.calls import python_calls
from ..algebra.dispatch import Dispatch
from ..algebra.logical import Filter, Project, Scan, SetKind, SetOp, TableModify, Values
from ..algebra.rel import Rel
from ..algebra.traits import NeedsWatermark, NoWatermark
from ..algebra.tree import bottom_up, copy_as, with_inputs
from ..metadata.modify_kinds import INSERT_ONLY, modify_kinds
from ..metadata.monotonicity import call_retractions
from ..rex.unplanned import Over


def is_enabled(config: Mapping[str, str]) -> bool:
    """Whether the job runs in mini-batches."""
    return is_on(config, MINI_BATCH)


def planning_options(modifies: Sequence[Rel], config: Mapping[str, str]) -> Mapping[str, str]:
    """The options to plan a job with: mini-batches are off where no operator of it would use them."""
    if not is_enabled(config) or any(map(_works_in_batches, modifies)):
        return config
    return {**config, MINI_BATCH: "false"}


@cached_on_record
def _works_in_batches(rel: Rel) -> bool:
    """Whether a bound relation has more than operators on single rows; Flink does not look into subqueries.

    Source: ``FlinkRexUtil.shouldSkipMiniBatch``.
    """
    match rel:
        case Project(exprs=exprs):
            own = any(isinstance(e, Over) and e.function is ROW_NUMBER for e in exprs)
        case SetOp(kind=SetKind.UNION, all=True) | Filter() | Scan() | Values() | TableModify():
            own = False
        case _:
            own = True
    return own or any(map(_works_in_batches, rel.inputs))


def assign_mini_batches(rel: Rel, config: Mapping[str, str]) -> Rel:
    """The tree with an assigner over each watermark assigner, and over each source without one."""
    if not is_enabled(config):
        return rel
    interval = parse_duration(value_of(config, MINI_BATCH_LATENCY))
    return _place(rel, "ProcTime", interval)


@cached_on_record
def _place(rel: Rel, mode: str, interval: int) -> Rel:
    """``mode`` is that of the mini-batches that the operators above need."""
    if isinstance(rel, p.LegacyWindowAggregate):
        return rel
    if _REQUIRES_WATERMARK[rel](rel):
        mode = "RowTime"
    if isinstance(rel, p.WatermarkAssigner):
        return p.MiniBatchAssigner(input=rel, interval=interval, mode=mode)
    if isinstance(rel, p.SourceScan):
        return p.MiniBatchAssigner(input=rel, interval=interval, mode="ProcTime")
    return with_inputs(rel, tuple(_place(i, mode, interval) for i in rel.inputs))


def _is_ordered_by_rowtime(rel: p.Rank | p.Match) -> bool:
    return any(rel.input.types[f.index].is_rowtime for f in rel.order)


def _is_over_rowtime(rel: p.OverAggregate) -> bool:
    types = rel.types
    return any(types[f.index].kind is TimeKind.ROWTIME for group in rel.groups for f in group.order_by.fields)


def _always(rel: Rel) -> bool:
    return True


def _never(rel: Rel) -> bool:
    return False


_REQUIRES_WATERMARK: Dispatch[bool] = Dispatch(
    "whether watermarks are required",
    {
        p.Deduplicate: lambda rel: rel.is_rowtime,
        p.Rank: _is_ordered_by_rowtime,
        p.Match: _is_ordered_by_rowtime,
        p.OverAggregate: _is_over_rowtime,
        p.IntervalJoin: lambda rel: rel.spec.window_bounds.is_event_time,
        p.VersionedJoin: lambda rel: rel.right_time >= 0,
        p.WindowJoin: lambda rel: not rel.left_windowing.is_proctime,
        **dict.fromkeys(
            (p.GlobalWindowAggregate, p.WindowAggregate, p.WindowTableFunction, p.WindowRank, p.WindowDeduplicate),
            lambda rel: not rel.windowing.is_proctime,
        ),
        NeedsWatermark: _always,
        NoWatermark: _never,
    },
    unknown=(
        *(p.MiniBatchAssigner, p.DropUpdateBefore, p.LegacyWindowAggregate),
        *(p.LocalGroupAggregate, p.GlobalGroupAggregate, p.IncrementalGroupAggregate),
    ),
    physical=True,
)
"""Source: ``StreamPhysicalRel.requireWatermark``.

A legacy window is never asked, and the others are made only after mini-batches are assigned.
"""


def two_phase_aggregates(rel: Rel, config: Mapping[str, str]) -> Rel:
    """The tree with aggregations in two phases, where the options and the functions allow it."""
    strategy = value_of(config, PHASES).upper()
    if not is_enabled(config) or strategy == "ONE_PHASE":
        return rel

    def split(node: Rel) -> Rel:
        if not isinstance(node, p.GroupAggregate) or not isinstance(node.input, p.Exchange):
            return node
        if python_calls(node.calls):
            return node
        source = node.input.input
        retracts = not modify_kinds(source) <= INSERT_ONLY
        try:
            return _two_phases(node, source, retracts)
        except UnsupportedError:
            return node

    split_tree = bottom_up(rel, split)
    merges = is_on(config, "table.optimizer.incremental-agg-enabled")
    return bottom_up(split_tree, _incremental) if merges else split_tree


def _two_phases(rel: p.GroupAggregate, source: Rel, retracts: bool) -> Rel:
    retractions = call_retractions(rel, rel.calls, retracts)
    columns = accumulators(rel.calls, retractions, source.types, retracts)
    local = copy_as(p.LocalGroupAggregate, rel, input=source, need_retraction=retracts, accumulators=columns.fields)
    grouping = tuple(range(len(rel.grouping)))
    return copy_as(
        p.GlobalGroupAggregate,
        rel,
        input=p.Exchange(input=local, keys=grouping),
        grouping=grouping,
        need_retraction=retracts,
        local_input=source.row_type,
        local_grouping=rel.grouping,
    )


def _incremental(rel: Rel) -> Rel:
    """A local FINAL over a global PARTIAL aggregation becomes one incremental operator."""
    if not isinstance(rel, p.GlobalGroupAggregate) or rel.phase != "FINAL" or not isinstance(rel.input, p.Exchange):
        return rel
    local = rel.input.input
    if not isinstance(local, p.LocalGroupAggregate) or not isinstance(local.input, p.GlobalGroupAggregate):
        return rel
    partial = local.input
    if partial.phase != "PARTIAL":
        return rel
    keys = tuple(partial.grouping[g] for g in local.grouping)
    plain = [replace(c, distinct=False, filter_arg=-1) for c in partial.calls]
    retracts = partial.need_retraction
    retractions = call_retractions(partial, partial.calls, retracts)
    columns = accumulators(plain, retractions, partial.local_input.field_types, retracts)
    incremental = copy_as(
        p.IncrementalGroupAggregate,
        partial,
        partial_grouping=partial.grouping,
        final_grouping=keys,
        partial_calls=partial.calls,
        final_calls=local.calls,
        partial_local_input=partial.local_input,
        accumulators=columns.fields,
    )
    own_counts = [i for i, call in enumerate(partial.calls) if is_count_star(call)]
    return replace(
        rel,
        need_retraction=retracts,
        count_star=own_counts[0] if retracts and own_counts else None,
        input=p.Exchange(input=incremental, keys=tuple(range(len(keys)))),
    )

"""Aggregations by group and OVER windows."""

from __future__ import annotations

from typing import Annotated

from ..codec import Place
from ..specs import AggregateCall, GroupWindow, NamedWindowProperty, OverSpec, StateMetadata
from ..types import LogicalType
from .base import ExecNode, exec_node

MINI_BATCH_OPTIONS = ("table.exec.mini-batch.enabled", "table.exec.mini-batch.size")


@exec_node(
    "group-aggregate",
    versions={1: "1.15"},
    states=("groupAggregateState",),
    consumed_options=MINI_BATCH_OPTIONS,
    identity=("grouping", "need_retraction"),
    results=("generate_update_before",),
    judged=("agg_calls", "agg_call_need_retractions", "state"),
)
class GroupAggregate(ExecNode, kw_only=True):
    """GROUP BY: one updating row a key."""

    grouping: tuple[int, ...]
    agg_calls: tuple[AggregateCall, ...]
    agg_call_need_retractions: tuple[bool, ...]
    generate_update_before: bool
    need_retraction: bool
    state: tuple[StateMetadata, ...] | None = None


@exec_node(
    "local-group-aggregate",
    versions={1: "1.15"},
    consumed_options=MINI_BATCH_OPTIONS,
    results=("grouping", "agg_calls", "agg_call_need_retractions", "need_retraction"),
)
class LocalGroupAggregate(ExecNode, kw_only=True):
    """The first phase of a two-phase aggregation: accumulators of one mini-batch."""

    grouping: tuple[int, ...]
    agg_calls: tuple[AggregateCall, ...]
    agg_call_need_retractions: tuple[bool, ...]
    need_retraction: bool


@exec_node(
    "global-group-aggregate",
    versions={1: "1.15"},
    states=("globalGroupAggregateState",),
    consumed_options=MINI_BATCH_OPTIONS,
    identity=("grouping", "need_retraction", "index_of_count_star"),
    results=("generate_update_before",),
    judged=("agg_calls", "agg_call_need_retractions", "local_agg_input_row_type", "state"),
)
class GlobalGroupAggregate(ExecNode, kw_only=True):
    """The second phase: merges accumulators."""

    grouping: tuple[int, ...]
    agg_calls: tuple[AggregateCall, ...]
    agg_call_need_retractions: tuple[bool, ...]
    local_agg_input_row_type: LogicalType
    generate_update_before: bool
    need_retraction: bool
    index_of_count_star: int | None = None
    state: tuple[StateMetadata, ...] | None = None


@exec_node(
    "incremental-group-aggregate",
    versions={1: "1.15"},
    states=("incrementalGroupAggregateState",),
    consumed_options=MINI_BATCH_OPTIONS,
    identity=(
        "partial_agg_grouping",
        "final_agg_grouping",
        "partial_original_agg_calls",
        "partial_agg_call_need_retractions",
        "partial_local_agg_input_row_type",
        "partial_agg_need_retraction",
    ),
    judged=("state",),
)
class IncrementalGroupAggregate(ExecNode, kw_only=True):
    """The middle phase of a split distinct aggregation."""

    partial_agg_grouping: tuple[int, ...]
    final_agg_grouping: tuple[int, ...]
    partial_original_agg_calls: tuple[AggregateCall, ...]
    partial_agg_call_need_retractions: tuple[bool, ...]
    partial_local_agg_input_row_type: LogicalType
    partial_agg_need_retraction: bool
    state: tuple[StateMetadata, ...] | None = None


@exec_node(
    "group-window-aggregate",
    versions={1: "1.15"},
    timed=True,
    consumed_options=("table.local-time-zone", *MINI_BATCH_OPTIONS),
    identity=("window", "need_retraction"),
    results=("named_window_properties",),
    judged=("grouping", "agg_calls"),
)
class GroupWindowAggregate(ExecNode, kw_only=True):
    """The legacy ``GROUP BY TUMBLE(…)``."""

    grouping: tuple[int, ...]
    agg_calls: tuple[AggregateCall, ...]
    window: GroupWindow
    named_window_properties: tuple[NamedWindowProperty, ...]
    need_retraction: bool


@exec_node(
    "over-aggregate", versions={1: "1.15"}, timed=True, identity=("unbounded_over_version",), judged=("over_spec",)
)
class OverAggregate(ExecNode, kw_only=True):
    """Aggregates over each row's preceding rows."""

    over_spec: OverSpec
    unbounded_over_version: Annotated[int | None, Place.LAST] = None

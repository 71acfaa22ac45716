"""Windowing table functions and what is computed per window."""

from __future__ import annotations

from dataclasses import dataclass

from ..codec import plan_field
from ..specs import AggregateCall, NamedWindowProperty, PartitionSpec, RankRange, SortSpec, WindowingStrategy
from ..types import LogicalType
from .base import ExecNode, exec_node

_TIME_ZONE = ("table.local-time-zone",)


@exec_node("window-table-function", versions={1: "1.15"}, consumed_options=_TIME_ZONE, identity=("windowing",))
@dataclass(frozen=True, kw_only=True)
class WindowTableFunction(ExecNode):
    """Appends window_start, window_end and window_time to each row, once per window."""

    windowing: WindowingStrategy


@exec_node(
    "window-aggregate",
    versions={1: "1.15"},
    timed=True,
    consumed_options=_TIME_ZONE,
    identity=("windowing", "need_retraction"),
    results=("named_window_properties",),
    judged=("grouping", "agg_calls"),
)
@dataclass(frozen=True, kw_only=True)
class WindowAggregate(ExecNode):
    """One row a key and window, when the window closes."""

    grouping: tuple[int, ...]
    agg_calls: tuple[AggregateCall, ...]
    windowing: WindowingStrategy
    named_window_properties: tuple[NamedWindowProperty, ...]
    need_retraction: bool


@exec_node(
    "local-window-aggregate",
    versions={1: "1.15"},
    consumed_options=_TIME_ZONE,
    identity=("windowing", "need_retraction"),
    results=("grouping", "agg_calls"),
)
@dataclass(frozen=True, kw_only=True)
class LocalWindowAggregate(ExecNode):
    """The first phase: accumulators a key and slice."""

    grouping: tuple[int, ...]
    agg_calls: tuple[AggregateCall, ...]
    windowing: WindowingStrategy
    need_retraction: bool


@exec_node(
    "global-window-aggregate",
    versions={1: "1.15"},
    timed=True,
    consumed_options=_TIME_ZONE,
    identity=("windowing", "need_retraction"),
    results=("named_window_properties",),
    judged=("grouping", "agg_calls", "local_agg_input_row_type"),
)
@dataclass(frozen=True, kw_only=True)
class GlobalWindowAggregate(ExecNode):
    """The second phase: merges the slices of a window."""

    grouping: tuple[int, ...]
    agg_calls: tuple[AggregateCall, ...]
    windowing: WindowingStrategy
    named_window_properties: tuple[NamedWindowProperty, ...]
    need_retraction: bool
    local_agg_input_row_type: LogicalType = plan_field(place="inputs")


@exec_node(
    "window-rank",
    versions={1: "1.15"},
    timed=True,
    consumed_options=_TIME_ZONE,
    identity=("rank_type", "sort_spec", "rank_range", "windowing"),
    results=("output_row_number",),
    judged=("partition_spec",),
)
@dataclass(frozen=True, kw_only=True)
class WindowRank(ExecNode):
    """Top-N of each window."""

    rank_type: str
    partition_spec: PartitionSpec
    sort_spec: SortSpec
    rank_range: RankRange
    output_row_number: bool
    windowing: WindowingStrategy


@exec_node(
    "window-deduplicate",
    versions={1: "1.15"},
    timed=True,
    consumed_options=_TIME_ZONE,
    identity=("order_key", "keep_last_row", "windowing"),
    judged=("partition_keys",),
)
@dataclass(frozen=True, kw_only=True)
class WindowDeduplicate(ExecNode):
    """The first or last row of each key and window."""

    partition_keys: tuple[int, ...]
    order_key: int
    keep_last_row: bool
    windowing: WindowingStrategy

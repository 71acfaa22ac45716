"""Windowing table functions and what is computed per window."""

from __future__ import annotations

from typing import Annotated

from ..codec import Place
from ..specs import AggregateCall, NamedWindowProperty, PartitionSpec, RankRange, SortSpec, WindowingStrategy
from ..types import LogicalType
from .base import ExecNode, exec_node

NeedRetraction = bool | None
"""Whether rows are retracted; ``None``, which is no, where a release before 1.19 leaves it unsaid."""

_TIME_ZONE = ("table.local-time-zone",)


@exec_node("window-table-function", versions={1: "1.15"}, consumed_options=_TIME_ZONE, identity=("windowing",))
class WindowTableFunction(ExecNode, kw_only=True):
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
class WindowAggregate(ExecNode, kw_only=True):
    """One row a key and window, when the window closes."""

    grouping: tuple[int, ...]
    agg_calls: tuple[AggregateCall, ...]
    windowing: WindowingStrategy
    named_window_properties: tuple[NamedWindowProperty, ...]
    need_retraction: NeedRetraction = None


@exec_node(
    "local-window-aggregate",
    versions={1: "1.15"},
    consumed_options=_TIME_ZONE,
    identity=("windowing", "need_retraction"),
    results=("grouping", "agg_calls"),
)
class LocalWindowAggregate(ExecNode, kw_only=True):
    """The first phase: accumulators a key and slice."""

    grouping: tuple[int, ...]
    agg_calls: tuple[AggregateCall, ...]
    windowing: WindowingStrategy
    need_retraction: NeedRetraction = None


@exec_node(
    "global-window-aggregate",
    versions={1: "1.15"},
    timed=True,
    consumed_options=_TIME_ZONE,
    identity=("windowing", "need_retraction"),
    results=("named_window_properties",),
    judged=("grouping", "agg_calls", "local_agg_input_row_type"),
)
class GlobalWindowAggregate(ExecNode, kw_only=True):
    """The second phase: merges the slices of a window."""

    grouping: tuple[int, ...]
    agg_calls: tuple[AggregateCall, ...]
    windowing: WindowingStrategy
    named_window_properties: tuple[NamedWindowProperty, ...]
    need_retraction: NeedRetraction = None
    local_agg_input_row_type: Annotated[LogicalType, Place.INPUTS]


@exec_node(
    "window-rank",
    versions={1: "1.15"},
    timed=True,
    consumed_options=_TIME_ZONE,
    identity=("rank_type", "sort_spec", "rank_range", "windowing"),
    results=("output_row_number",),
    judged=("partition_spec",),
)
class WindowRank(ExecNode, kw_only=True):
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
class WindowDeduplicate(ExecNode, kw_only=True):
    """The first or last row of each key and window."""

    partition_keys: tuple[int, ...]
    order_key: int
    keep_last_row: bool
    windowing: WindowingStrategy

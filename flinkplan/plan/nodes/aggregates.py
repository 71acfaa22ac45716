"""Aggregations by group and OVER windows."""

from __future__ import annotations

from typing import Annotated

from ..codec import Place
from ..layout import Inputs, KeptState, Layout, accumulated, columns, distinct_views, types_of
from ..specs import AggregateCall, GroupWindow, NamedWindowProperty, OverSpec, SessionGroupWindow, StateMetadata
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

    def layout(self, inputs: Inputs) -> Layout:
        states = accumulated(
            "accState",
            self.agg_calls,
            self.agg_call_need_retractions,
            types_of(inputs[0]),
            self.need_retraction,
        )
        return Layout("group-aggregate", columns(inputs, only=self.grouping), states)


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

    def layout(self, inputs: Inputs) -> Layout:
        states = accumulated(
            "accState",
            self.agg_calls,
            self.agg_call_need_retractions,
            self.local_agg_input_row_type.field_types,
            self.need_retraction,
        )
        return Layout("global-group-aggregate", columns(inputs, only=self.grouping), states)


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

    @property
    def keepers(self) -> tuple[str, ...]:
        """Only the values seen so far are kept, where there are DISTINCT calls."""
        is_kept = any(call.distinct for call in self.partial_original_agg_calls)
        return self.metadata.transformations if is_kept else ()

    def layout(self, inputs: Inputs) -> Layout:
        types = self.partial_local_agg_input_row_type.field_types
        views = distinct_views(self.partial_original_agg_calls, types, self.partial_agg_need_retraction)
        return Layout("incremental-group-aggregate", columns(inputs, only=self.partial_agg_grouping), tuple(views))


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

    def layout(self, inputs: Inputs) -> Layout:
        retract = [self.need_retraction] * len(self.agg_calls)
        states = accumulated("window-aggs", self.agg_calls, retract, types_of(inputs[0]), self.need_retraction)
        if isinstance(self.window, SessionGroupWindow):
            states = (*states, KeptState("session-window-mapping", form="windows"))
        is_counted = not getattr(self.window, "is_time_window", True)
        return Layout(
            "group-window-aggregate",
            columns(inputs, only=self.grouping),
            states,
            "the number of a window" if is_counted else "a window",
        )


@exec_node(
    "over-aggregate", versions={1: "1.15"}, timed=True, identity=("unbounded_over_version",), judged=("over_spec",)
)
class OverAggregate(ExecNode, kw_only=True):
    """Aggregates over each row's preceding rows."""

    over_spec: OverSpec
    unbounded_over_version: Annotated[int | None, Place.LAST] = None

    def layout(self, inputs: Inputs) -> Layout:
        key, rows = columns(inputs, only=self.over_spec.partition.fields), columns(inputs)
        types = [*types_of(inputs[0]), *(constant.type for constant in self.over_spec.constants)]
        group = self.over_spec.groups[0]
        is_bounded = group.lower_bound.kind == "BOUNDED_WINDOW"
        calls = group.agg_calls
        states = accumulated("accState", calls, [is_bounded] * len(calls), types, is_bounded)
        order = [types[f.index] for f in group.order_by.fields if 0 <= f.index < len(types)]
        if not (order and order[0].is_time_attribute):
            form = f"rows in the order of {[(f.is_ascending, f.null_is_last) for f in group.order_by.fields]}"
            sort_key = columns(inputs, only=[f.index for f in group.order_by.fields])
            kept = (KeptState("sortedListState", sort_key, form), KeptState("valueMapState", rows), *states)
            return Layout("over-aggregate", key, kept)
        if order[0].is_rowtime or is_bounded:
            states = (*states, KeptState("inputState", rows, "rows by time"))
        if is_bounded and group.is_rows:
            states = (*states, KeptState("processedCountState", form="a number"))
        return Layout("over-aggregate", key, states)

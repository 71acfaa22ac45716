"""Group aggregations and OVER aggregations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from ..codec import Place
from ..references import Input, Keys, Mark, OwnKeys
from ..row_kinds import Flow, Kinds, fired, framed, grouped, rows
from ..savepoint import flink_states
from ..savepoint.layout import Inputs, KeptState, Layout, accumulated, columns, distinct_views, types_of
from ..specs import AggregateCall, GroupWindow, NamedWindowProperty, OverSpec, SessionGroupWindow, StateMetadata
from ..types import LogicalType, RowField
from ..yields import Accumulator, Aggregated, OverAggregated, Yield, input_columns, windowed
from .base import ColumnOrder, ExecNode, State, exec_node
from .mixins import InsertsOnly, NoRows, RowByRow, WholeRows

GROUP_EXPIRES = "the group starts again from nothing"
MINI_BATCH_OPTIONS = ("table.exec.mini-batch.enabled", "table.exec.mini-batch.size")


@exec_node(
    "group-aggregate",
    order=ColumnOrder.GROUPED,
    versions={1: "1.15"},
    states=(State("groupAggregateState", GROUP_EXPIRES),),
    consumed_options=MINI_BATCH_OPTIONS,
    identity=("grouping", "need_retraction"),
    results=("generate_update_before",),
    judged=("agg_calls", "agg_call_need_retractions", "state"),
)
class GroupAggregate(NoRows, ExecNode, kw_only=True):
    """GROUP BY: one row for each key, which is updated."""

    grouping: OwnKeys
    agg_calls: Annotated[tuple[AggregateCall, ...], Input.ALL, Mark.CALL]
    agg_call_need_retractions: Annotated[tuple[bool, ...], Mark.BY_CALL]
    generate_update_before: bool
    need_retraction: bool
    state: tuple[StateMetadata, ...] | None = None

    def layout(self, inputs: Inputs) -> Layout:
        states = accumulated(
            flink_states.ACCUMULATORS,
            self.agg_calls,
            self.agg_call_need_retractions,
            types_of(inputs[0]),
            self.need_retraction,
        )
        return Layout("group-aggregate", columns(inputs, only=self.grouping), states)

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.grouping,)

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return (*input_columns(inputs, self.grouping), *map(Aggregated, self.agg_calls))

    def row_kinds(self, flow: Flow) -> Kinds:
        return rows(grouped(self.need_retraction), self.generate_update_before)


@exec_node(
    "local-group-aggregate",
    order=ColumnOrder.ACCUMULATED,
    versions={1: "1.15"},
    consumed_options=MINI_BATCH_OPTIONS,
    results=("grouping", "agg_calls", "agg_call_need_retractions", "need_retraction"),
)
class LocalGroupAggregate(RowByRow, InsertsOnly, ExecNode, kw_only=True):
    """The local phase of a two-phase aggregation: the accumulators of one mini-batch."""

    grouping: OwnKeys
    agg_calls: Annotated[tuple[AggregateCall, ...], Input.ALL, Mark.CALL]
    agg_call_need_retractions: Annotated[tuple[bool, ...], Mark.BY_CALL]
    need_retraction: bool

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        width = len(self.fields) - len(self.grouping)
        return (*input_columns(inputs, self.grouping), *(Accumulator(self.agg_calls, i) for i in range(width)))


@exec_node(
    "global-group-aggregate",
    order=ColumnOrder.GROUPED,
    versions={1: "1.15"},
    states=(State("globalGroupAggregateState", GROUP_EXPIRES),),
    consumed_options=MINI_BATCH_OPTIONS,
    identity=("grouping", "need_retraction", "index_of_count_star"),
    results=("generate_update_before",),
    judged=("agg_calls", "agg_call_need_retractions", "local_agg_input_row_type", "state"),
)
class GlobalGroupAggregate(NoRows, ExecNode, kw_only=True):
    """The global phase of a two-phase aggregation, which merges accumulators."""

    grouping: OwnKeys
    agg_calls: Annotated[tuple[AggregateCall, ...], Input.BEFORE, Mark.CALL]
    agg_call_need_retractions: Annotated[tuple[bool, ...], Mark.BY_CALL]
    local_agg_input_row_type: Annotated[LogicalType, Mark.DERIVED]
    generate_update_before: bool
    need_retraction: bool
    index_of_count_star: Annotated[int | None, Mark.DERIVED] = None
    state: tuple[StateMetadata, ...] | None = None

    def layout(self, inputs: Inputs) -> Layout:
        states = accumulated(
            flink_states.ACCUMULATORS,
            self.agg_calls,
            self.agg_call_need_retractions,
            self.local_agg_input_row_type.field_types,
            self.need_retraction,
        )
        return Layout("global-group-aggregate", columns(inputs, only=self.grouping), states)

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.grouping,)

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return (*input_columns(inputs, self.grouping), *map(Aggregated, self.agg_calls))

    def row_kinds(self, flow: Flow) -> Kinds:
        """After an incremental aggregation, which is part of a split distinct aggregation, groups can be deleted."""
        is_split = any(isinstance(source, IncrementalGroupAggregate) for source in flow.sources)
        return rows(grouped(self.need_retraction or is_split), self.generate_update_before)


@exec_node(
    "incremental-group-aggregate",
    order=ColumnOrder.FIXED,
    versions={1: "1.15"},
    states=(State("incrementalGroupAggregateState", "the distinct values of the group are forgotten"),),
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
class IncrementalGroupAggregate(InsertsOnly, NoRows, ExecNode, kw_only=True):
    """The middle phase of a split distinct aggregation."""

    partial_agg_grouping: Keys
    final_agg_grouping: Keys
    partial_original_agg_calls: Annotated[tuple[AggregateCall, ...], Input.BEFORE]
    partial_agg_call_need_retractions: tuple[bool, ...]
    partial_local_agg_input_row_type: Annotated[LogicalType, Mark.DERIVED]
    partial_agg_need_retraction: bool
    state: tuple[StateMetadata, ...] | None = None

    @property
    def stateful_transformations(self) -> tuple[str, ...]:
        """The state holds the distinct values, so there is none without DISTINCT calls."""
        has_distinct_calls = any(call.is_distinct for call in self.partial_original_agg_calls)
        return self.metadata.transformations if has_distinct_calls else ()

    def layout(self, inputs: Inputs) -> Layout:
        types = self.partial_local_agg_input_row_type.field_types
        views = distinct_views(self.partial_original_agg_calls, types, self.partial_agg_need_retraction)
        return Layout("incremental-group-aggregate", columns(inputs, only=self.partial_agg_grouping), tuple(views))

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.partial_agg_grouping,)

    def yields(self, inputs: Inputs) -> None:
        """Keys and accumulators of the final grouping; which is which is not known."""


@exec_node(
    "group-window-aggregate",
    order=ColumnOrder.GROUPED,
    versions={1: "1.15"},
    timed=True,
    consumed_options=("table.local-time-zone", *MINI_BATCH_OPTIONS),
    identity=("window", "need_retraction"),
    results=("named_window_properties",),
    judged=("grouping", "agg_calls"),
)
class GroupWindowAggregate(NoRows, ExecNode, kw_only=True):
    """The legacy ``GROUP BY TUMBLE(…)``."""

    grouping: OwnKeys
    agg_calls: Annotated[tuple[AggregateCall, ...], Input.ALL, Mark.CALL]
    window: GroupWindow
    named_window_properties: tuple[NamedWindowProperty, ...]
    need_retraction: bool

    def layout(self, inputs: Inputs) -> Layout:
        retract = [self.need_retraction] * len(self.agg_calls)
        states = accumulated(
            flink_states.WINDOW_ACCUMULATORS, self.agg_calls, retract, types_of(inputs[0]), self.need_retraction
        )
        if isinstance(self.window, SessionGroupWindow):
            states = (*states, KeptState(flink_states.SESSIONS, form="windows"))
        is_count_window = not getattr(self.window, "is_time_window", True)
        return Layout(
            "group-window-aggregate",
            columns(inputs, only=self.grouping),
            states,
            "the number of a window" if is_count_window else "a window",
        )

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.grouping,)

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return windowed(inputs, self.grouping, self.agg_calls, self.named_window_properties)

    def row_kinds(self, flow: Flow) -> Kinds:
        """Only the node's description tells whether windows fire early or late."""
        return rows(fired("emit=[" in self.description), flow.needs_update_before)


@exec_node(
    "over-aggregate",
    order=ColumnOrder.EXTENDED,
    versions={1: "1.15"},
    timed=True,
    identity=("unbounded_over_version",),
    judged=("over_spec",),
)
class OverAggregate(WholeRows, ExecNode, kw_only=True):
    """Aggregates over each row's preceding rows."""

    over_spec: OverSpec
    unbounded_over_version: Annotated[int | None, Input.NONE, Place.LAST] = None

    def layout(self, inputs: Inputs) -> Layout | None:
        if not self.over_spec.groups:
            return None
        key, rows = columns(inputs, only=self.over_spec.partition.fields), columns(inputs)
        types = [*types_of(inputs[0]), *(constant.type for constant in self.over_spec.constants)]
        group = self.over_spec.groups[0]
        is_bounded = group.lower_bound.kind == "BOUNDED_WINDOW"
        calls = group.agg_calls
        states = accumulated(flink_states.ACCUMULATORS, calls, [is_bounded] * len(calls), types, is_bounded)
        order = [types[f.index] for f in group.order_by.fields if 0 <= f.index < len(types)]
        if not (order and order[0].is_time_attribute):
            form = f"rows in the order of {[(f.is_ascending, f.null_is_last) for f in group.order_by.fields]}"
            sort_key = columns(inputs, only=[f.index for f in group.order_by.fields])
            kept = (
                KeptState(flink_states.OVER_ORDER, sort_key, form),
                KeptState(flink_states.OVER_ROWS_BY_ID, rows),
                *states,
            )
            return Layout("over-aggregate", key, kept)
        if order[0].is_rowtime or is_bounded:
            states = (*states, KeptState(flink_states.OVER_ROWS, rows, "rows by time"))
        if is_bounded and group.is_rows:
            states = (*states, KeptState(flink_states.OVER_COUNT, form="a number"))
        return Layout("over-aggregate", key, states)

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.over_spec.partition.fields,)

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        calls = (call for group in self.over_spec.groups for call in group.agg_calls)
        return (*input_columns(inputs), *map(OverAggregated, calls))

    def row_kinds(self, flow: Flow) -> Kinds:
        return rows(framed(self._is_by_time(flow.fields), flow.inputs[0]), True)

    def _is_by_time(self, fields: Sequence[RowField]) -> bool:
        first = [group.order_by.fields[0].index for group in self.over_spec.groups if group.order_by.fields]
        return all(0 <= index < len(fields) and fields[index].type.is_time_attribute for index in first)

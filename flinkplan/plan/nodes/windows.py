"""Windowing table functions, and the operators on their windows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from ..accumulator_columns import counts_rows
from ..codec import Place
from ..references import Input, Mark, OwnKeys
from ..savepoint import flink_states
from ..savepoint.layout import Inputs, KeptState, Layout, accumulated, columns, types_of
from ..specs import (
    AggregateCall,
    NamedWindowProperty,
    PartitionSpec,
    RankRange,
    SessionWindow,
    SortSpec,
    WindowingStrategy,
)
from ..types import LogicalType
from ..yields import Accumulator, AddedColumn, SliceEnd, Yield, input_columns, ranks, windowed
from .base import ColumnOrder, ExecNode, exec_node
from .mixins import InsertsOnly, NoRows, RowByRow, SameChanges, SameColumns, WholeRows

NeedRetraction = bool | None
"""Whether input rows are retracted; releases before 1.19 do not write the field, which then means no."""

_TIME_ZONE = ("table.local-time-zone",)


@exec_node(
    "window-table-function",
    order=ColumnOrder.EXTENDED,
    versions={1: "1.15"},
    consumed_options=_TIME_ZONE,
    transformations=("window",),
    identity=("windowing",),
)
class WindowTableFunction(SameChanges, ExecNode, kw_only=True):
    """Appends window_start, window_end and window_time to each row, once per window."""

    windowing: WindowingStrategy

    @property
    def stateful_transformations(self) -> tuple[str, ...]:
        """Only session windows need state: the rows of a session are kept until it ends."""
        return self.metadata.transformations if isinstance(self.windowing.window, SessionWindow) else ()

    def layout(self, inputs: Inputs) -> Layout | None:
        window = self.windowing.window
        if not isinstance(window, SessionWindow):
            return None
        key = columns(inputs, only=window.partition_key_indices or ())
        return Layout("window", key, (KeptState(flink_states.SESSION_ROWS, columns(inputs), "rows"),), "a window")

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        """Only session windows are computed by key."""
        window = self.windowing.window
        return (window.partition_key_indices or (),) if isinstance(window, SessionWindow) else ()

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return (*input_columns(inputs), *[AddedColumn()] * 3)


@exec_node(
    "window-aggregate",
    order=ColumnOrder.GROUPED,
    versions={1: "1.15"},
    timed=True,
    consumed_options=_TIME_ZONE,
    identity=("windowing", "need_retraction"),
    results=("named_window_properties",),
    judged=("grouping", "agg_calls"),
)
class WindowAggregate(InsertsOnly, NoRows, ExecNode, kw_only=True):
    """One row for each key and window, emitted when the window closes."""

    grouping: OwnKeys
    agg_calls: Annotated[tuple[AggregateCall, ...], Input.ALL, Mark.CALL]
    windowing: WindowingStrategy
    named_window_properties: tuple[NamedWindowProperty, ...]
    need_retraction: NeedRetraction = None

    def layout(self, inputs: Inputs) -> Layout:
        return Layout(
            "window-aggregate",
            columns(inputs, only=self.grouping),
            _window_aggregates(self.agg_calls, self.windowing, bool(self.need_retraction), types_of(inputs[0])),
            _namespace(self.windowing),
        )

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.grouping,)

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return windowed(inputs, self.grouping, self.agg_calls, self.named_window_properties)


@exec_node(
    "local-window-aggregate",
    order=ColumnOrder.ACCUMULATED,
    versions={1: "1.15"},
    consumed_options=_TIME_ZONE,
    results=("grouping", "agg_calls", "windowing", "need_retraction"),
)
class LocalWindowAggregate(RowByRow, InsertsOnly, ExecNode, kw_only=True):
    """The local phase of a two-phase window aggregation: the accumulators of each key and slice."""

    grouping: OwnKeys
    agg_calls: Annotated[tuple[AggregateCall, ...], Input.ALL, Mark.CALL]
    windowing: WindowingStrategy
    need_retraction: NeedRetraction = None

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        parts = (Accumulator(self.agg_calls, i) for i in range(len(self.fields) - len(self.grouping) - 1))
        return (*input_columns(inputs, self.grouping), *parts, SliceEnd())


@exec_node(
    "global-window-aggregate",
    order=ColumnOrder.GROUPED,
    versions={1: "1.15"},
    timed=True,
    consumed_options=_TIME_ZONE,
    identity=("windowing", "need_retraction"),
    results=("named_window_properties",),
    judged=("grouping", "agg_calls", "local_agg_input_row_type"),
)
class GlobalWindowAggregate(InsertsOnly, NoRows, ExecNode, kw_only=True):
    """The global phase of a two-phase window aggregation, which merges the slices of a window."""

    grouping: OwnKeys
    agg_calls: Annotated[tuple[AggregateCall, ...], Input.BEFORE, Mark.CALL]
    windowing: WindowingStrategy
    named_window_properties: tuple[NamedWindowProperty, ...]
    need_retraction: NeedRetraction = None
    local_agg_input_row_type: Annotated[LogicalType, Mark.DERIVED, Place.INPUTS]

    def layout(self, inputs: Inputs) -> Layout:
        types = self.local_agg_input_row_type.field_types
        return Layout(
            "global-window-aggregate",
            columns(inputs, only=self.grouping),
            _window_aggregates(self.agg_calls, self.windowing, bool(self.need_retraction), types),
            _namespace(self.windowing),
        )

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.grouping,)

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return windowed(inputs, self.grouping, self.agg_calls, self.named_window_properties)


@exec_node(
    "window-rank",
    order=ColumnOrder.EXTENDED,
    versions={1: "1.15"},
    timed=True,
    consumed_options=_TIME_ZONE,
    identity=("rank_type", "sort_spec", "rank_range", "windowing"),
    results=("output_row_number",),
    judged=("partition_spec",),
)
class WindowRank(InsertsOnly, WholeRows, ExecNode, kw_only=True):
    """Top-N of each window."""

    rank_type: str
    partition_spec: PartitionSpec
    sort_spec: SortSpec
    rank_range: RankRange
    output_row_number: bool
    windowing: WindowingStrategy

    def layout(self, inputs: Inputs) -> Layout:
        sort_key = columns(inputs, only=[f.index for f in self.sort_spec.fields])
        rows = KeptState(flink_states.WINDOW_RANK, (*sort_key, *columns(inputs)), "rows by the order")
        return Layout("window-rank", columns(inputs, only=self.partition_spec.fields), (rows,), "the end of a window")

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.partition_spec.fields,)

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return (*input_columns(inputs), *ranks(self.output_row_number))


@exec_node(
    "window-deduplicate",
    order=ColumnOrder.EXTENDED,
    versions={1: "1.15"},
    timed=True,
    consumed_options=_TIME_ZONE,
    identity=("order_key", "keep_last_row", "windowing"),
    judged=("partition_keys",),
)
class WindowDeduplicate(SameColumns, InsertsOnly, WholeRows, ExecNode, kw_only=True):
    """The first or last row of each key and window."""

    partition_keys: OwnKeys
    order_key: Annotated[int, Input.ALL]
    keep_last_row: bool
    windowing: WindowingStrategy

    def layout(self, inputs: Inputs) -> Layout:
        key, row = (
            columns(inputs, only=self.partition_keys),
            KeptState(flink_states.WINDOW_DEDUPLICATE, columns(inputs)),
        )
        return Layout("window-deduplicate", key, (row,), "the end of a window")

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.partition_keys,)


def _window_aggregates(
    calls: Sequence[AggregateCall], windowing: WindowingStrategy, retracts: bool, types: Sequence[LogicalType]
) -> tuple[KeptState, ...]:
    """The accumulators of each window or slice."""
    states = accumulated(
        flink_states.WINDOW_ACCUMULATORS, calls, [retracts] * len(calls), types, counts_rows(windowing, retracts)
    )
    if isinstance(windowing.window, SessionWindow):
        states = (*states, KeptState(flink_states.SESSIONS, form="windows"))
    return states


def _namespace(windowing: WindowingStrategy) -> str:
    return "a window" if isinstance(windowing.window, SessionWindow) else "the end of a window or slice"

"""Joins of streams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from ..codec import Place
from ..durations import parse_duration
from ..record import replace
from ..references import Input, Mark
from ..rex import InputRef, RexNode
from ..row_kinds import Flow, Kinds, joined
from ..savepoint import flink_states
from ..savepoint.layout import Inputs, KeptState, Layout, Value, columns
from ..specs import (
    AsyncLookup,
    ContextResolvedTable,
    IntervalJoinSpec,
    JoinSpec,
    JoinType,
    LookupKey,
    ReceivedKind,
    RetryLookup,
    StateMetadata,
    TemporalTable,
    WindowingStrategy,
)
from ..yields import AddedColumn, TableColumn, Yield, input_columns, joined_columns
from .base import ColumnOrder, ExecNode, State, exec_node, spread_by
from .mixins import InsertsOnly, NoRows, RowByRow, SameColumns, WholeRows


@exec_node(
    "join",
    order=ColumnOrder.JOINED,
    versions={1: "1.15"},
    inputs=2,
    states=(
        State("leftState", "an older row of the left input no longer finds new rows of the right one"),
        State("rightState", "an older row of the right input no longer finds new rows of the left one"),
    ),
    identity=("join_spec", "left_upsert_keys", "right_upsert_keys"),
    judged=("state",),
)
class Join(WholeRows, ExecNode, kw_only=True):
    """The regular join: both sides are kept in state until their TTL."""

    join_spec: JoinSpec
    left_upsert_keys: Annotated[tuple[tuple[int, ...], ...] | None, Input.LEFT] = None
    right_upsert_keys: Annotated[tuple[tuple[int, ...], ...] | None, Input.RIGHT] = None
    state: tuple[StateMetadata, ...] | None = None

    def layout(self, inputs: Inputs) -> Layout:
        spec = self.join_spec
        sides = (
            (spec.left_keys, self.left_upsert_keys, _COUNTS_LEFT),
            (spec.right_keys, self.right_upsert_keys, _COUNTS_RIGHT),
        )
        states = (
            _joined_rows(flink_states.JOINED[side], inputs, side, keys, unique or (), spec.join_type in counting)
            for side, (name, (keys, unique, counting)) in enumerate(zip(("left", "right"), sides, strict=True))
        )
        return Layout("join", _join_key(inputs, spec), tuple(states))

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.join_spec.left_keys, self.join_spec.right_keys)

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return joined_columns(self.join_spec, inputs)

    def row_kinds(self, flow: Flow) -> Kinds:
        return joined((self.join_spec.join_type,), flow.inputs, flow.needs_update_before)


@exec_node(
    "multi-join",
    order=ColumnOrder.FIXED,
    versions={1: "2.1"},
    inputs=None,
    identity=("join_types", "join_conditions", "multi_join_condition", "join_attribute_map", "input_unique_keys"),
    judged=("state",),
)
class MultiJoin(SameColumns, WholeRows, ExecNode, kw_only=True):
    """A regular join of several inputs; its states are named ``input-state-<n>``."""

    join_types: tuple[JoinType, ...]
    join_conditions: Annotated[tuple[RexNode | None, ...], Input.ALL]
    multi_join_condition: Annotated[RexNode | None, Input.ALL] = None
    join_attribute_map: Mapping[str, Any] | None = None
    input_unique_keys: Annotated[tuple[tuple[tuple[int, ...], ...], ...] | None, Input.EACH] = None
    state: tuple[StateMetadata, ...] | None = None

    def layout(self, inputs: Inputs) -> Layout:
        return Layout("multi-join", (), tuple(self._kept(inputs, i) for i in range(len(inputs))))

    def _kept(self, inputs: Inputs, index: int) -> KeptState:
        unique, join_key = self.unique_key(index), self.join_key(index)
        name, keys = flink_states.multi_join_input(index), [unique] if unique else []
        state = _joined_rows(name, inputs, index, join_key, keys, False)
        return replace(state, form=f"{state.form}{BY_JOIN_KEY}") if join_key else state

    def unique_key(self, index: int) -> tuple[int, ...]:
        """The columns by which an input's rows are kept; none where they are kept by their content."""
        own = (self.input_unique_keys or ())[index : index + 1]
        return min((key for keys in own for key in keys if key), key=len, default=())

    def join_key(self, index: int) -> tuple[int, ...]:
        """The columns of an input by which its rows are found from those of the inputs before it.

        Source: ``AttributeBasedJoinKeyExtractor``.
        """
        attributes = (self.join_attribute_map or {}).get(str(index)) if index else None
        known = [each for each in attributes if isinstance(each, Mapping)] if isinstance(attributes, list) else []
        columns = (attribute.get("rightFieldIndex") for attribute in known)
        return tuple(column for column in columns if isinstance(column, int))

    @property
    def is_stateful(self) -> bool:
        """Always true: the rows of each input are kept."""
        return True

    @classmethod
    def declared_states(cls, inputs: int) -> tuple[State, ...]:
        expiry = "an older row of this input no longer finds new rows of the others"
        return tuple(State(f"input-state-{i}", expiry) for i in range(inputs))

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return spread_by(self.input_properties)

    def row_kinds(self, flow: Flow) -> Kinds:
        return joined(self.join_types, flow.inputs, flow.needs_update_before)


@exec_node(
    "interval-join",
    order=ColumnOrder.JOINED,
    versions={1: "1.15"},
    inputs=2,
    timed=True,
    transformations=("filter-left", "filter-right", "pad-left", "pad-right", "interval-join"),
    identity=("interval_join_spec",),
)
class IntervalJoin(InsertsOnly, WholeRows, ExecNode, kw_only=True):
    """A join whose time bounds let the watermark clean its state."""

    interval_join_spec: IntervalJoinSpec

    @property
    def stateful_transformations(self) -> tuple[str, ...]:
        return ("interval-join",)

    def layout(self, inputs: Inputs) -> Layout:
        states = (
            KeptState(name, columns(inputs, side), ROWS_AND_WHETHER_JOINED)
            for side, name in enumerate(flink_states.INTERVAL_ROWS)
        )
        return Layout("interval-join", _join_key(inputs, self.interval_join_spec.join_spec), tuple(states))

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        spec = self.interval_join_spec.join_spec
        return (spec.left_keys, spec.right_keys)

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return joined_columns(self.interval_join_spec.join_spec, inputs)


SNAPSHOT_TTL = "snapshotTtl"
"""The property, added by flinkplan, with the TTL of a processing-time temporal join that waits for a snapshot."""


@exec_node(
    "temporal-join",
    order=ColumnOrder.JOINED,
    versions={1: "1.15"},
    inputs=2,
    timed=True,
    identity=("join_spec", "is_temporal_function_join", "left_time_attribute_index", "right_time_attribute_index"),
)
class TemporalJoin(WholeRows, ExecNode, kw_only=True):
    """Joins each left row with the right side's version at the left row's time; index -1 means processing time."""

    join_spec: JoinSpec
    is_temporal_function_join: bool
    left_time_attribute_index: Annotated[int, Input.LEFT]
    right_time_attribute_index: Annotated[int, Input.RIGHT, Mark.PERHAPS]

    @property
    def is_processing_time(self) -> bool:
        """Whether it joins left rows with the right side's rows at the time of their arrival."""
        return self.right_time_attribute_index < 0

    @property
    def snapshot_ttl_ms(self) -> int | None:
        """The TTL of the right side's rows in a join that waits for that side's snapshot, 0 for none; else ``None``.

        Flink has no such join, so it is a property that flinkplan adds.  Source: FLIP-326.
        """
        ttl = self.own_properties.get(SNAPSHOT_TTL)
        return parse_duration(ttl) if isinstance(ttl, str) else None

    def layout(self, inputs: Inputs) -> Layout:
        right = columns(inputs, 1)
        states: tuple[KeptState, ...] = (KeptState("right", right),)
        if self.left_time_attribute_index >= 0:
            left = columns(inputs, 0)
            states = (KeptState("left", left, "rows in order"), KeptState("right", right, "rows by time"))
        return Layout("temporal-join", _join_key(inputs, self.join_spec), states)

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.join_spec.left_keys, self.join_spec.right_keys)

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return joined_columns(self.join_spec, inputs)

    def row_kinds(self, flow: Flow) -> Kinds:
        return flow.inputs[0]


@exec_node(
    "window-join",
    order=ColumnOrder.FIXED,
    versions={1: "1.15"},
    inputs=2,
    timed=True,
    consumed_options=("table.local-time-zone",),
    identity=("join_spec", "left_windowing", "right_windowing"),
)
class WindowJoin(InsertsOnly, WholeRows, ExecNode, kw_only=True):
    """A join of rows that share a window."""

    join_spec: JoinSpec
    left_windowing: WindowingStrategy
    right_windowing: WindowingStrategy

    def layout(self, inputs: Inputs) -> Layout:
        states = (KeptState(name, columns(inputs, side), "rows") for side, name in enumerate(flink_states.JOINED))
        return Layout("window-join", _join_key(inputs, self.join_spec), tuple(states), "the end of a window")

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.join_spec.left_keys, self.join_spec.right_keys)

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return joined_columns(self.join_spec, inputs)


@exec_node(
    "lookup-join",
    order=ColumnOrder.FIXED,
    versions={1: "1.15"},
    states=(State("lookupJoinState", "the row's last lookup is forgotten"),),
    identity=(
        "join_type",
        "temporal_table",
        "lookup_keys",
        "lookup_key_contains_primary_key",
        "require_upsert_materialize",
        "input_changelog_mode",
        "input_upsert_key",
    ),
    results=(
        "pre_filter_condition",
        "join_condition",
        "projection_on_temporal_table",
        "filter_on_temporal_table",
        "async_options",
        "retry_options",
        "prefer_custom_shuffle",
    ),
    judged=("state",),
)
class LookupJoin(RowByRow, NoRows, ExecNode, kw_only=True):
    """Joins rows with an external table by lookups, at processing time.

    ``lookup_keys`` maps columns of the table, by their positions in the row that the table returns, to the values that
    they are compared with; ``join_condition`` is over the columns of the input and then those of :attr:`table_row`.
    """

    join_type: JoinType
    pre_filter_condition: Annotated[RexNode | None, Input.ALL] = None
    join_condition: Annotated[RexNode | None, Input.FUNCTION]
    temporal_table: TemporalTable
    lookup_keys: Mapping[str, LookupKey]
    projection_on_temporal_table: Annotated[tuple[RexNode, ...] | None, Input.TABLE]
    filter_on_temporal_table: Annotated[RexNode | None, Input.TABLE]
    lookup_key_contains_primary_key: bool
    require_upsert_materialize: bool = False
    async_options: AsyncLookup | None = None
    retry_options: RetryLookup | None = None
    input_changelog_mode: tuple[ReceivedKind, ...] | None = None
    input_upsert_key: Annotated[tuple[int, ...] | None, Input.LEFT] = None
    state: tuple[StateMetadata, ...] | None = None
    prefer_custom_shuffle: Annotated[bool | None, Place.LAST] = None

    @property
    def table(self) -> ContextResolvedTable:
        """The table that is looked up."""
        return self.temporal_table.lookup_table_source.table

    @property
    def table_row(self) -> tuple[RexNode, ...]:
        """The columns that are joined with the input's, as expressions over the row that the table returns."""
        fields = self.temporal_table.output_type.fields
        return self.projection_on_temporal_table or tuple(InputRef(i, f.type) for i, f in enumerate(fields))

    @property
    def is_stateful(self) -> bool:
        """Whether looked-up rows are kept in order to retract them."""
        return self.require_upsert_materialize

    def layout(self, inputs: Inputs) -> None:
        """Not known."""

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        names = self.temporal_table.output_type.field_names
        table_columns = (
            TableColumn(names[e.index]) if isinstance(e, InputRef) else AddedColumn() for e in self.table_row
        )
        return (*input_columns(inputs), *table_columns)

    def row_kinds(self, flow: Flow) -> Kinds:
        return flow.inputs[0]


ROWS_AND_WHETHER_JOINED = "rows by time, and whether they were joined"
"""The form of a state that has for each time a list of rows, each with whether it has found a match."""
BY_JOIN_KEY = ", for each join key"
"""The end of the form of a state whose map key is a join key, or such a key and what leads to a row under it."""
ONE_ROW = "one row"
"""The beginning of the form of a state with one row for each key."""
_COUNTS_LEFT = frozenset((JoinType.LEFT, JoinType.FULL, JoinType.SEMI, JoinType.ANTI))
_COUNTS_RIGHT = frozenset((JoinType.RIGHT, JoinType.FULL))
"""The joins that keep with each row of a side how many rows of the other side match it."""


def _join_key(inputs: Inputs, spec: JoinSpec) -> tuple[Value, ...]:
    """The join keys of both sides; their types are equal, while their meaning may differ."""
    return (*columns(inputs, 0, spec.left_keys), *columns(inputs, 1, spec.right_keys))


def _joined_rows(
    name: str,
    inputs: Inputs,
    side: int,
    join_keys: Sequence[int],
    unique_keys: Sequence[Sequence[int]],
    counts: bool,
) -> KeptState:
    """The state of one side: a single row if the join keys contain a unique key, else rows by unique key or by value.

    Source: ``JoinRecordStateViews``, ``OuterJoinRecordStateViews``, ``JoinInputSideSpec``.
    """
    values = columns(inputs, side)
    associations = ", and how many each has met" if counts else ""
    if any(set(key) <= set(join_keys) for key in unique_keys):  # that of an input of one row has no columns
        return KeptState(name, values, f"{ONE_ROW}{associations}")
    if unique_keys:
        key_values: tuple[Value, ...] = columns(inputs, side, min(unique_keys, key=len))
        return KeptState(name, (*key_values, *values), f"rows by their key{associations}")
    return KeptState(name, values, f"rows with a number{associations}")

"""Joins of streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from ..codec import Place
from ..layout import Inputs, KeptState, Layout, Value, columns
from ..rex import RexNode
from ..specs import IntervalJoinSpec, JoinSpec, JoinType, RowKind, StateMetadata, WindowingStrategy
from .base import ExecNode, exec_node


@exec_node(
    "join",
    versions={1: "1.15"},
    inputs=2,
    states=("leftState", "rightState"),
    identity=("join_spec", "left_upsert_keys", "right_upsert_keys"),
    judged=("state",),
)
class Join(ExecNode, kw_only=True):
    """The regular join: both sides are kept in state until their TTL."""

    join_spec: JoinSpec
    left_upsert_keys: tuple[tuple[int, ...], ...] | None = None
    right_upsert_keys: tuple[tuple[int, ...], ...] | None = None
    state: tuple[StateMetadata, ...] | None = None

    def layout(self, inputs: Inputs) -> Layout:
        spec = self.join_spec
        sides = (
            (spec.left_keys, self.left_upsert_keys, _COUNTS_LEFT),
            (spec.right_keys, self.right_upsert_keys, _COUNTS_RIGHT),
        )
        states = (
            _joined_rows(f"{name}-records", inputs, side, keys, unique or (), spec.join_type in counting)
            for side, (name, (keys, unique, counting)) in enumerate(zip(("left", "right"), sides, strict=True))
        )
        return Layout("join", _join_key(inputs, spec), tuple(states))


@exec_node(
    "multi-join",
    versions={1: "2.1"},
    inputs=None,
    identity=("join_types", "join_conditions", "multi_join_condition", "join_attribute_map", "input_unique_keys"),
    judged=("state",),
)
class MultiJoin(ExecNode, kw_only=True):
    """A regular join of several inputs; its states are named ``input-state-<n>``."""

    join_types: tuple[str, ...]
    join_conditions: tuple[RexNode | None, ...]
    multi_join_condition: RexNode | None = None
    join_attribute_map: Mapping[str, Any] | None = None
    input_unique_keys: tuple[tuple[tuple[int, ...], ...], ...] | None = None
    state: tuple[StateMetadata, ...] | None = None

    def layout(self, inputs: Inputs) -> Layout:
        unique = [*(self.input_unique_keys or ()), *[()] * len(inputs)]
        states = (_joined_rows(f"multi-join-input-{i}", inputs, i, (), unique[i], False) for i in range(len(inputs)))
        return Layout("multi-join", (), tuple(states))

    @property
    def is_stateful(self) -> bool:
        """Always: each input is kept."""
        return True


@exec_node(
    "interval-join",
    versions={1: "1.15"},
    inputs=2,
    timed=True,
    transformations=("filter-left", "filter-right", "pad-left", "pad-right", "interval-join"),
    identity=("interval_join_spec",),
)
class IntervalJoin(ExecNode, kw_only=True):
    """A join whose time bounds let the watermark clean its state."""

    interval_join_spec: IntervalJoinSpec

    @property
    def keepers(self) -> tuple[str, ...]:
        return ("interval-join",)

    def layout(self, inputs: Inputs) -> Layout:
        states = (
            KeptState(f"IntervalJoin{name}Cache", columns(inputs, side), "rows by time, and whether they were joined")
            for side, name in enumerate(("Left", "Right"))
        )
        return Layout("interval-join", _join_key(inputs, self.interval_join_spec.join_spec), tuple(states))


@exec_node(
    "temporal-join",
    versions={1: "1.15"},
    inputs=2,
    timed=True,
    identity=("join_spec", "is_temporal_function_join", "left_time_attribute_index", "right_time_attribute_index"),
)
class TemporalJoin(ExecNode, kw_only=True):
    """Each left row with the right side's version at the left row's time; index -1: processing time."""

    join_spec: JoinSpec
    is_temporal_function_join: bool
    left_time_attribute_index: int
    right_time_attribute_index: int

    def layout(self, inputs: Inputs) -> Layout:
        right = columns(inputs, 1)
        states: tuple[KeptState, ...] = (KeptState("right", right),)
        if self.left_time_attribute_index >= 0:
            left = columns(inputs, 0)
            states = (KeptState("left", left, "rows in order"), KeptState("right", right, "rows by time"))
        return Layout("temporal-join", _join_key(inputs, self.join_spec), states)


@exec_node(
    "window-join",
    versions={1: "1.15"},
    inputs=2,
    timed=True,
    consumed_options=("table.local-time-zone",),
    identity=("join_spec", "left_windowing", "right_windowing"),
)
class WindowJoin(ExecNode, kw_only=True):
    """A join of rows that share a window."""

    join_spec: JoinSpec
    left_windowing: WindowingStrategy
    right_windowing: WindowingStrategy

    def layout(self, inputs: Inputs) -> Layout:
        states = (
            KeptState(f"{name}-records", columns(inputs, side), "rows") for side, name in enumerate(("left", "right"))
        )
        return Layout("window-join", _join_key(inputs, self.join_spec), tuple(states), "the end of a window")


@exec_node(
    "lookup-join",
    versions={1: "1.15"},
    states=("lookupJoinState",),
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
class LookupJoin(ExecNode, kw_only=True):
    """Looks rows up in an external table, as of processing time."""

    join_type: str
    pre_filter_condition: RexNode | None = None
    join_condition: RexNode | None
    temporal_table: Any
    lookup_keys: Any
    projection_on_temporal_table: tuple[RexNode, ...] | None
    filter_on_temporal_table: RexNode | None
    lookup_key_contains_primary_key: bool
    require_upsert_materialize: bool = False
    async_options: Any = None
    retry_options: Any = None
    input_changelog_mode: tuple[RowKind, ...] | None = None
    input_upsert_key: tuple[int, ...] | None = None
    state: tuple[StateMetadata, ...] | None = None
    prefer_custom_shuffle: Annotated[bool | None, Place.LAST] = None

    @property
    def is_stateful(self) -> bool:
        """Whether looked-up rows are kept to take them back."""
        return self.require_upsert_materialize


_COUNTS_LEFT = frozenset((JoinType.LEFT, JoinType.FULL, JoinType.SEMI, JoinType.ANTI))
_COUNTS_RIGHT = frozenset((JoinType.RIGHT, JoinType.FULL))
"""The joins that count for each row of a side how many rows of the other one it has met."""


def _join_key(inputs: Inputs, spec: JoinSpec) -> tuple[Value, ...]:
    """The key of either side: their types agree, what they mean need not."""
    return (*columns(inputs, 0, spec.left_keys), *columns(inputs, 1, spec.right_keys))


def _joined_rows(
    name: str,
    inputs: Inputs,
    side: int,
    join_keys: Sequence[int],
    unique_keys: Sequence[Sequence[int]],
    counts: bool,
) -> KeptState:
    """The rows of one side: by their unique key where they have one, and alone where the join's key holds it.

    Source: ``JoinRecordStateViews``, ``OuterJoinRecordStateViews``, ``JoinInputSideSpec``.
    """
    values = columns(inputs, side)
    met = ", and how many each has met" if counts else ""
    if any(set(key) <= set(join_keys) for key in unique_keys if key):
        return KeptState(name, values, f"one row{met}")
    if unique_keys:
        by: tuple[Value, ...] = columns(inputs, side, min(unique_keys, key=len))
        return KeptState(name, (*by, *values), f"rows by their key{met}")
    return KeptState(name, values, f"rows with a number{met}")

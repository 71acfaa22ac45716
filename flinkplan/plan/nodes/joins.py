"""Joins of streams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from ..codec import Place
from ..rex import RexNode
from ..specs import IntervalJoinSpec, JoinSpec, RowKind, StateMetadata, WindowingStrategy
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

    @property
    def is_stateful(self) -> bool:
        """Always: each input is kept."""
        return True


@exec_node("interval-join", versions={1: "1.15"}, inputs=2, timed=True, identity=("interval_join_spec",))
class IntervalJoin(ExecNode, kw_only=True):
    """A join whose time bounds let the watermark clean its state."""

    interval_join_spec: IntervalJoinSpec


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

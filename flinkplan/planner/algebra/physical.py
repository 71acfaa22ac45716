"""The physical algebra: the operators of a plan before they get ids, between the rules and the lowering.

A relation here is one exec node to be.  What an exec node says about its changelog is not stored in it: the
changelog modes are inferred over the finished tree (:mod:`..physical.changelog`).
"""

from __future__ import annotations

from ...plan.rex import RexNode
from ...plan.specs import (
    AggregateCall,
    AppendFastStrategy,
    Evictor,
    GroupWindow,
    IntervalJoinSpec,
    JoinSpec,
    JoinType,
    NamedWindowProperty,
    OverGroup,
    RankRange,
    RankStrategy,
    SortField,
    SourceAbility,
    Trigger,
    WindowAssigner,
    WindowFunction,
    WindowingStrategy,
)
from ...plan.types import LogicalType
from ..catalog.catalog import Table
from .logical import Rel, TtlHint, Unary


class SourceScan(Rel, kw_only=True):
    """A table with what was pushed into its source; ``hints`` are those that the scan's digest shows."""

    table: Table
    abilities: tuple[SourceAbility, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    alias: str | None = None
    normalized: bool = False
    """Whether its changelog may repeat events, so that it is normalized by the primary key."""


class Calc(Unary, kw_only=True):
    """Filters by ``condition``, then computes ``projection``; both read the input's columns.

    ``input_names``: those that the input's columns had when the calc was made, where they have others since.
    """

    projection: tuple[RexNode, ...]
    condition: RexNode | None = None
    input_names: tuple[str, ...] | None = None


class Exchange(Unary, kw_only=True):
    """Brings rows of equal keys together; no keys: all rows."""

    keys: tuple[int, ...]


class WatermarkAssigner(Unary, kw_only=True):
    """Marks event time."""

    rowtime_index: int
    expr: RexNode


class MiniBatchAssigner(Unary, kw_only=True):
    """Marks the ends of mini-batches."""

    interval: int
    mode: str


class DropUpdateBefore(Unary, kw_only=True):
    """Drops -U rows."""


class ChangelogNormalize(Unary, kw_only=True):
    """Completes a changelog of upserts by key."""

    unique_keys: tuple[int, ...]
    condition: RexNode | None = None


class Expand(Unary, kw_only=True):
    """Each row once per projection; ``expand_index`` is the column that tells them apart."""

    projects: tuple[tuple[RexNode, ...], ...]
    expand_index: int


class GroupAggregate(Unary, kw_only=True):
    """GROUP BY; ``phase`` is PARTIAL or FINAL in a split distinct aggregation."""

    grouping: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    ttl: int | None = None
    phase: str | None = None


class LocalGroupAggregate(Unary, kw_only=True):
    """The first phase of an aggregation."""

    grouping: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    need_retraction: bool
    phase: str | None = None


class GlobalGroupAggregate(Unary, kw_only=True):
    """The second phase; ``local_input`` is the type of the rows that the first phase read.

    ``count_star``: which of the calls of the phases below counts a group's rows, where none had to be added for it.
    """

    grouping: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    need_retraction: bool
    local_input: LogicalType
    local_grouping: tuple[int, ...]
    ttl: int | None = None
    phase: str | None = None
    count_star: int | None = None


class IncrementalGroupAggregate(Unary, kw_only=True):
    """Between the phases of a split distinct aggregation."""

    partial_grouping: tuple[int, ...]
    final_grouping: tuple[int, ...]
    partial_calls: tuple[AggregateCall, ...]
    partial_local_input: LogicalType
    need_retraction: bool
    ttl: int | None = None


class LegacyWindowAggregate(Unary, kw_only=True):
    """GROUP BY TUMBLE(…), HOP(…) or SESSION(…); ``emit`` is the text of its early and late firing."""

    grouping: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    window: GroupWindow
    properties: tuple[NamedWindowProperty, ...]
    emit: str | None = None


class OverAggregate(Unary, kw_only=True):
    """Aggregates over preceding rows; ``constants`` are addressed behind the input's columns."""

    partition: tuple[int, ...]
    groups: tuple[OverGroup, ...]
    constants: tuple[RexNode, ...]


class WindowTableFunction(Unary, kw_only=True):
    """Appends window_start, window_end and window_time."""

    windowing: WindowingStrategy


class WindowAggregate(Unary, kw_only=True):
    """A window aggregation in one phase."""

    grouping: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    windowing: WindowingStrategy
    properties: tuple[NamedWindowProperty, ...]


class LocalWindowAggregate(Unary, kw_only=True):
    """The first phase of a window aggregation."""

    grouping: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    windowing: WindowingStrategy


class GlobalWindowAggregate(Unary, kw_only=True):
    """The second phase of a window aggregation."""

    grouping: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    windowing: WindowingStrategy
    properties: tuple[NamedWindowProperty, ...]
    local_input: LogicalType
    local_grouping: tuple[int, ...]


class WindowOperator(Unary, kw_only=True):
    """Windows of the DataStream API; ``lateness`` is milliseconds."""

    name: str
    keys: tuple[int, ...]
    time_index: int
    assigner: WindowAssigner
    trigger: Trigger
    evictor: Evictor | None
    lateness: int
    function: WindowFunction
    properties: tuple[str, ...]


class LateRows(Unary, kw_only=True):
    """The side output of a window operator, its input."""


class Binary(Rel, kw_only=True):
    """A join of two relations; ``condition`` is the whole condition, as the description prints it."""

    left: Rel
    right: Rel
    condition: RexNode

    @property
    def inputs(self) -> tuple[Rel, ...]:
        return (self.left, self.right)


class RegularJoin(Binary, kw_only=True):
    """A join that keeps both sides."""

    spec: JoinSpec
    ttl: TtlHint | None = None


class IntervalJoin(Binary, kw_only=True):
    """A join with time bounds."""

    spec: IntervalJoinSpec


class WindowJoin(Binary, kw_only=True):
    """A join of rows of equal windows; ``condition`` no longer compares the windows."""

    spec: JoinSpec
    left_windowing: WindowingStrategy
    right_windowing: WindowingStrategy


class VersionedJoin(Binary, kw_only=True):
    """An event-time temporal join; index -1 on the right means processing time."""

    spec: JoinSpec
    left_time: int
    right_time: int


class TableFunctionJoin(Unary, kw_only=True):
    """A correlation with a table function."""

    type: str
    call: RexNode
    condition: RexNode | None
    correl: str


class Rank(Unary, kw_only=True):
    """Top-N; ``in_batches``: as it is after each mini-batch."""

    kind: str
    partition: tuple[int, ...]
    order: tuple[SortField, ...]
    range: RankRange
    output_rank: bool
    strategy: RankStrategy = AppendFastStrategy()
    in_batches: bool = False


class Deduplicate(Unary, kw_only=True):
    """The first or last row of each key; ``in_batches``: as it is after each mini-batch."""

    keys: tuple[int, ...]
    is_rowtime: bool
    keep_last: bool
    in_batches: bool


class WindowRank(Unary, kw_only=True):
    """Top-N of each window."""

    kind: str
    partition: tuple[int, ...]
    order: tuple[SortField, ...]
    range: RankRange
    output_rank: bool
    windowing: WindowingStrategy


class WindowDeduplicate(Unary, kw_only=True):
    """The first or last row of each key and window."""

    partition: tuple[int, ...]
    order_key: int
    keep_last: bool
    windowing: WindowingStrategy


class SortLimit(Unary, kw_only=True):
    """ORDER BY … LIMIT."""

    order: tuple[SortField, ...]
    offset: int
    fetch: int | None
    strategy: RankStrategy = AppendFastStrategy()


class Limit(Unary, kw_only=True):
    """LIMIT."""

    offset: int
    fetch: int | None
    strategy: RankStrategy = AppendFastStrategy()


class TemporalSort(Unary, kw_only=True):
    """ORDER BY a time attribute first."""

    order: tuple[SortField, ...]


class FullSort(Unary, kw_only=True):
    """ORDER BY of a bounded stream."""

    order: tuple[SortField, ...]


class MultiJoin(Rel, kw_only=True):
    """A join of several relations on one common key, whose columns of each input are ``keys``."""

    operands: tuple[Rel, ...]
    kinds: tuple[JoinType, ...]
    conditions: tuple[RexNode, ...]
    ttls: tuple[int | None, ...]
    keys: tuple[tuple[int, ...], ...]

    @property
    def inputs(self) -> tuple[Rel, ...]:
        return self.operands


class UnionAll(Rel, kw_only=True):
    """All rows of all inputs."""

    operands: tuple[Rel, ...]

    @property
    def inputs(self) -> tuple[Rel, ...]:
        return self.operands


class ConstantRows(Rel, kw_only=True):
    """Constant rows."""

    tuples: tuple[tuple[RexNode, ...], ...]


class Sink(Unary, kw_only=True):
    """Writes a table."""

    table: Table
    overwrite: bool = False
    static_partition: tuple[tuple[str, str], ...] = ()
    target_columns: tuple[int, ...] | None = None
    conflict: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    upsert_materialize: bool = False
    is_united: bool = False
    """Whether the input is the union of what several sinks wrote to the table."""

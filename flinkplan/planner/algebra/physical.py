"""The physical algebra: operators of Flink, before the lowering makes exec nodes of them.

Each relation here becomes one exec node.  What is known of its rows and changes is declared by its traits
(:mod:`.traits`), or by its line in a table.  Its changelog mode is inferred over the finished tree
(:mod:`..physical.changelog`).
"""

from __future__ import annotations

from typing import ClassVar

from ...plan import specs
from ...plan.record import cached_property
from ...plan.rex import RexNode
from ...plan.types import LogicalType, TimeKind, timestamp_ltz
from ..catalog.catalog import Table
from .hints import ShownHints, TtlHint
from .physical_bases import (
    AccumulatorPhase,
    GroupedRows,
    LocalPhase,
    PhysicalBinary,
    RankBase,
    SpecifiedJoin,
    WindowAggregateBase,
)
from .rel import (
    AssignsWatermark,
    AssignsWindows,
    CallsProcessTable,
    CallsTableAggregate,
    Correlation,
    Leaf,
    MatchesPattern,
    NaryJoin,
    SameRowType,
    Unary,
    Union,
    WritesTable,
)
from .row_types import nullable_types
from .stream_windows import StreamWindow
from .traits import (
    CompleteChanges,
    CompleteDeletes,
    ConstantColumns,
    InsertsOnly,
    NeedsWatermark,
    NoWatermark,
    OneRowPerKey,
    ReadsInserts,
    SameChanges,
    SameDeletes,
    SameKinds,
    SameUpdates,
    UnknownBounds,
    UnknownColumns,
    UnknownDirections,
    UnknownKeys,
)


class SourceScan(NoWatermark, UnknownBounds, Leaf, kw_only=True):
    """A table source with the abilities that were pushed into it."""

    table: Table
    abilities: tuple[specs.SourceAbility, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    alias: str | None = None
    normalized: bool = False
    """Whether its changelog is normalized by the primary key: it has upserts, or may repeat events."""


class Calc(SameKinds, NoWatermark, Unary, kw_only=True):
    """Filters by ``condition``, then computes ``projection``; both read the input's columns.

    ``input_names``: the names of the input's columns when the calc was made, if they are others now.
    """

    projection: tuple[RexNode, ...]
    names: tuple[str, ...]
    condition: RexNode | None = None
    input_names: tuple[str, ...] | None = None

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        return tuple([e.type for e in self.projection])


class Exchange(SameChanges, NoWatermark, SameRowType, kw_only=True):
    """Shuffles rows by the hash of ``keys``; without keys all rows go to one task."""

    keys: tuple[int, ...]


class WatermarkAssigner(
    SameKinds, SameUpdates, CompleteDeletes, NoWatermark, UnknownBounds, AssignsWatermark, kw_only=True
):
    """Assigns watermarks to an event-time column."""


class MiniBatchAssigner(SameKinds, SameDeletes, UnknownBounds, SameRowType, kw_only=True):
    """Marks the ends of mini-batches."""

    interval: int
    mode: str


class DropUpdateBefore(SameKinds, SameDeletes, UnknownBounds, SameRowType, kw_only=True):
    """Drops -U rows."""


class ChangelogNormalize(NoWatermark, UnknownBounds, SameRowType, kw_only=True):
    """Makes a full changelog of upserts, by key."""

    unique_keys: tuple[int, ...]
    condition: RexNode | None = None


class Expand(SameChanges, NoWatermark, UnknownBounds, Unary, kw_only=True):
    """Each row once per projection; ``expand_index`` is the column with the number of the projection."""

    projects: tuple[tuple[RexNode, ...], ...]
    names: tuple[str, ...]
    expand_index: int

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        return nullable_types([[e.type for e in exprs] for exprs in self.projects])


class GroupAggregate(CompleteChanges, NoWatermark, GroupedRows, kw_only=True):
    """GROUP BY; ``phase`` is PARTIAL or FINAL in a split distinct aggregation."""

    ttl: int | None = None
    phase: str | None = None
    shown_hints: ShownHints | None = None


class GroupTableAggregate(CompleteChanges, NoWatermark, UnknownColumns, CallsTableAggregate, kw_only=True):
    """A table aggregate function over the rows of each group."""


class LocalGroupAggregate(SameKinds, CompleteChanges, UnknownKeys, LocalPhase, kw_only=True):
    """The first phase of an aggregation."""

    need_retraction: bool
    phase: str | None = None


class GlobalGroupAggregate(CompleteChanges, GroupedRows, kw_only=True):
    """The second phase of an aggregation; ``local_input`` is the row type that the first phase reads.

    ``count_star``: the call of the phases below that counts a group's rows, where none had to be added for that.
    """

    need_retraction: bool
    local_input: LogicalType
    local_grouping: tuple[int, ...]
    ttl: int | None = None
    phase: str | None = None
    count_star: int | None = None


class IncrementalGroupAggregate(SameKinds, CompleteChanges, UnknownKeys, UnknownBounds, AccumulatorPhase, kw_only=True):
    """Merges partial and final aggregation of a split distinct aggregation."""

    partial_grouping: tuple[int, ...]
    final_grouping: tuple[int, ...]
    partial_calls: tuple[specs.AggregateCall, ...]
    final_calls: tuple[specs.AggregateCall, ...]
    partial_local_input: LogicalType
    need_retraction: bool
    ttl: int | None = None

    @property
    def keys(self) -> tuple[int, ...]:
        return self.final_grouping


class LegacyWindowAggregate(CompleteChanges, UnknownBounds, WindowAggregateBase, kw_only=True):
    """GROUP BY TUMBLE(…), HOP(…) or SESSION(…); ``emit`` is the text of its early and late firing."""

    window: specs.GroupWindow
    emit: str | None = None

    def time_type(self, named: specs.NamedWindowProperty) -> LogicalType:
        if named.property.kind == "Proctime":
            return timestamp_ltz(3, kind=TimeKind.PROCTIME)
        return named.property.reference.type.nullable_()


class OverAggregate(CompleteChanges, ConstantColumns, Unary, kw_only=True):
    """Aggregates over preceding rows; ``constants`` are addressed behind the input's columns.

    ``number`` counts the windows of one projection: on streams there is one.  The columns keep the names that they had
    when it was made: ``LogicalWindow`` is given its row type.
    """

    partition: tuple[int, ...]
    groups: tuple[specs.OverGroup, ...]
    constants: tuple[RexNode, ...]
    names: tuple[str, ...]
    number: int = 0

    @property
    def calls(self) -> tuple[specs.AggregateCall, ...]:
        """The calls of all groups."""
        return tuple([c for g in self.groups for c in g.agg_calls])

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        return (*self.input.types, *[c.type for c in self.calls])


class Match(ReadsInserts, InsertsOnly, CompleteChanges, UnknownColumns, MatchesPattern, kw_only=True):
    """MATCH_RECOGNIZE over rows that are shuffled by partition."""

    description: ClassVar[str] = "MATCH_RECOGNIZE"


class WindowTableFunction(SameKinds, SameUpdates, CompleteDeletes, UnknownColumns, AssignsWindows, kw_only=True):
    """Appends window_start, window_end and window_time."""

    windowing: specs.WindowingStrategy

    @property
    def time_type(self) -> LogicalType:
        return self.windowing.time_attribute_type


class SlicedWindowAggregate(WindowAggregateBase, kw_only=True):
    """A phase of a window aggregation that emits results."""

    windowing: specs.WindowingStrategy

    def time_type(self, named: specs.NamedWindowProperty) -> LogicalType:
        return self.windowing.time_attribute_type.not_null()


class WindowAggregate(InsertsOnly, CompleteChanges, UnknownColumns, SlicedWindowAggregate, kw_only=True):
    """A window aggregation in one phase."""


class LocalWindowAggregate(SameKinds, CompleteChanges, NoWatermark, UnknownColumns, LocalPhase, kw_only=True):
    """The first phase of a window aggregation."""

    windowing: specs.WindowingStrategy


class GlobalWindowAggregate(InsertsOnly, CompleteChanges, UnknownColumns, SlicedWindowAggregate, kw_only=True):
    """The second phase of a window aggregation."""

    local_input: LogicalType
    local_grouping: tuple[int, ...]


class ProcessTable(NeedsWatermark, UnknownColumns, CallsProcessTable, kw_only=True):
    """A process table function; ``uid`` names its operator, as functions of whole tables must be named."""

    uid: str | None
    mode: tuple[specs.ReceivedKind, ...] | None = None
    """The kinds of rows that it emits, once they are inferred."""
    input_modes: tuple[tuple[specs.ReceivedKind, ...], ...] = ()
    """Those of each input."""


class WindowOperator(ReadsInserts, InsertsOnly, CompleteChanges, NoWatermark, UnknownColumns, Unary, kw_only=True):
    """A window of the DataStream API."""

    description: ClassVar[str] = "a window of the section 'windows'"
    window: StreamWindow
    fields: LogicalType

    @property
    def types(self) -> tuple[LogicalType, ...]:
        return self.fields.field_types

    @property
    def names(self) -> tuple[str, ...]:
        return self.fields.field_names


class LateRows(SameKinds, CompleteChanges, NoWatermark, UnknownColumns, Unary, kw_only=True):
    """The side output of a window operator, its input."""

    @property
    def types(self) -> tuple[LogicalType, ...]:
        return self.input.inputs[0].types

    @property
    def names(self) -> tuple[str, ...]:
        return self.input.inputs[0].names


class RegularJoin(NoWatermark, SpecifiedJoin, kw_only=True):
    """A regular join, which keeps both sides in state."""

    ttl: TtlHint | None = None
    shown_hints: ShownHints | None = None


class IntervalJoin(ReadsInserts, InsertsOnly, CompleteChanges, ConstantColumns, PhysicalBinary, kw_only=True):
    """A join with time bounds."""

    description: ClassVar[str] = "an interval join"
    spec: specs.IntervalJoinSpec

    @property
    def kind(self) -> specs.JoinType:
        return self.spec.join_spec.join_type


class WindowJoin(ReadsInserts, InsertsOnly, CompleteChanges, SpecifiedJoin, kw_only=True):
    """A join of rows of equal windows; ``condition`` no longer compares the windows."""

    description: ClassVar[str] = "a window join"
    left_windowing: specs.WindowingStrategy
    right_windowing: specs.WindowingStrategy


class VersionedJoin(CompleteDeletes, SpecifiedJoin, kw_only=True):
    """An event-time temporal join; index -1 on the right means processing time."""

    left_time: int
    right_time: int


class TableFunctionJoin(
    SameKinds, SameUpdates, CompleteDeletes, NoWatermark, UnknownKeys, UnknownBounds, Correlation, kw_only=True
):
    """A correlation with a table function."""


class Rank(CompleteDeletes, RankBase, kw_only=True):
    """Top-N; ``uses_mini_batches``: results are emitted after each mini-batch."""

    strategy: specs.RankStrategy = specs.AppendFastStrategy()
    uses_mini_batches: bool = False


class Deduplicate(ReadsInserts, CompleteChanges, OneRowPerKey, SameRowType, kw_only=True):
    """The first or last row of each key; ``uses_mini_batches``: results are emitted after each mini-batch."""

    description: ClassVar[str] = "a deduplication by time"
    keys: tuple[int, ...]
    is_rowtime: bool
    keep_last: bool
    uses_mini_batches: bool

    @property
    def unique_key(self) -> tuple[int, ...]:
        return self.keys


class WindowRank(ReadsInserts, InsertsOnly, CompleteChanges, UnknownDirections, RankBase, kw_only=True):
    """Top-N of each window."""

    description: ClassVar[str] = "a Top-N per window"
    windowing: specs.WindowingStrategy


class WindowDeduplicate(ReadsInserts, InsertsOnly, CompleteChanges, UnknownColumns, SameRowType, kw_only=True):
    """The first or last row of each key and window."""

    description: ClassVar[str] = "a deduplication per window"
    partition: tuple[int, ...]
    order_key: int
    keep_last: bool
    windowing: specs.WindowingStrategy


class SortLimit(CompleteDeletes, NoWatermark, UnknownDirections, SameRowType, kw_only=True):
    """ORDER BY … LIMIT."""

    order: tuple[specs.SortField, ...]
    offset: int
    fetch: int | None
    strategy: specs.RankStrategy = specs.AppendFastStrategy()


class Limit(CompleteDeletes, NoWatermark, UnknownDirections, SameRowType, kw_only=True):
    """LIMIT."""

    offset: int
    fetch: int | None
    strategy: specs.RankStrategy = specs.AppendFastStrategy()


class TemporalSort(
    ReadsInserts,
    SameKinds,
    CompleteChanges,
    NeedsWatermark,
    UnknownDirections,
    SameRowType,
    kw_only=True,
):
    """ORDER BY a time attribute first."""

    description: ClassVar[str] = "a sort by time"
    order: tuple[specs.SortField, ...]


class FullSort(InsertsOnly, CompleteChanges, NoWatermark, UnknownDirections, SameRowType, kw_only=True):
    """ORDER BY of a bounded stream."""

    order: tuple[specs.SortField, ...]


class MultiJoin(NoWatermark, UnknownDirections, UnknownBounds, NaryJoin, kw_only=True):
    """A join of several relations on one common key, whose columns of each input are ``keys``."""

    keys: tuple[tuple[int, ...], ...]


class UnionAll(SameKinds, SameUpdates, NoWatermark, UnknownKeys, Union, kw_only=True):
    """All rows of all inputs."""


class ConstantRows(InsertsOnly, CompleteChanges, NoWatermark, UnknownColumns, Leaf, kw_only=True):
    """Constant rows."""

    tuples: tuple[tuple[RexNode, ...], ...]


class Sink(SameKinds, NoWatermark, UnknownColumns, WritesTable, kw_only=True):
    """Writes a table."""

    upsert_materialize: bool = False
    is_united: bool = False
    """Whether the input is the union of the inputs of several sinks of the table."""

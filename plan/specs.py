"""The parts that exec nodes share: tables, joins, aggregate calls, windows, ranks, state metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from .codec import plan_field, tagged_union, unknown_fields, variant
from .durations import parse_duration, parse_iso_duration
from .rex import FUNCTION, RexNode
from .types import LogicalType

# ---------------------------------------------------------------- state


@dataclass(frozen=True, slots=True)
class StateMetadata:
    """One state of a stateful node; ``ttl`` is kept as written, :attr:`ttl_ms` is its meaning."""

    index: int
    ttl: Any
    name: str
    unknown: Mapping[str, Any] = unknown_fields()

    @property
    def ttl_ms(self) -> int:
        """Milliseconds after the last write at which an entry expires; 0 = never."""
        return parse_duration(self.ttl)


# ---------------------------------------------------------------- distribution


class DistributionType(Enum):
    """How rows must be spread over the instances of the operator."""

    ANY = "ANY"
    SINGLETON = "SINGLETON"
    BROADCAST = "BROADCAST"
    HASH = "HASH"
    UNKNOWN = "UNKNOWN"
    KEEP_INPUT_AS_IS = "KEEP_INPUT_AS_IS"


@dataclass(frozen=True, slots=True)
class Distribution:
    """A required distribution; ``keys`` are input columns and only set for HASH."""

    type: DistributionType
    keys: tuple[int, ...] | None = None
    input_distribution: Any = None
    is_strict: bool | None = None


@dataclass(frozen=True, slots=True)
class InputProperty:
    """What a node requires of one of its inputs."""

    required_distribution: Distribution
    dam_behavior: str = plan_field()
    priority: int = plan_field()


PIPELINED_INPUT = InputProperty(Distribution(DistributionType.UNKNOWN), "PIPELINED", 0)

# ---------------------------------------------------------------- tables


@dataclass(frozen=True, slots=True)
class TableExpression:
    """An expression of a table's schema, with its SQL text."""

    rex_node: RexNode
    serializable_string: str


@dataclass(frozen=True, slots=True)
class Column:
    """A column: physical (a data type only), COMPUTED (an expression) or METADATA."""

    name: str
    comment: str | None = None
    kind: str | None = None
    data_type: LogicalType | None = None
    expression: TableExpression | None = None
    metadata_key: str | None = None
    is_virtual: bool | None = None

    @property
    def is_physical(self) -> bool:
        return self.kind is None


@dataclass(frozen=True, slots=True)
class WatermarkSpec:
    """``WATERMARK FOR rowtime_attribute AS expression``."""

    rowtime_attribute: str
    expression: TableExpression


@dataclass(frozen=True, slots=True)
class UniqueConstraint:
    """A primary key."""

    name: str
    type: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResolvedSchema:
    """The columns of a table and what is declared over them."""

    columns: tuple[Column, ...]
    watermark_specs: tuple[WatermarkSpec, ...] | None = None
    primary_key: UniqueConstraint | None = None
    indexes: Any = None


@dataclass(frozen=True, slots=True)
class ResolvedTable:
    """A table of the catalog as it was when the plan was compiled."""

    schema: ResolvedSchema
    distribution: Any = None
    partition_keys: tuple[str, ...] | None = None
    options: Mapping[str, str] | None = None
    comment: str | None = None
    snapshot: Any = None


@dataclass(frozen=True, slots=True)
class ContextResolvedTable:
    """A table's identifier and, unless compiled by IDENTIFIER only, its definition."""

    identifier: str
    resolved_table: ResolvedTable | None = None


@tagged_union("type")
@dataclass(frozen=True, slots=True)
class SourceAbility:
    """What the planner pushed into a source."""


@variant("ProjectPushDown")
@dataclass(frozen=True, slots=True)
class ProjectPushDown(SourceAbility):
    """Read only these columns; a path is a column and its nested fields."""

    projected_fields: tuple[tuple[int, ...], ...]
    produced_type: LogicalType


@variant("ReadingMetadata")
@dataclass(frozen=True, slots=True)
class ReadingMetadata(SourceAbility):
    """Append these metadata columns."""

    metadata_keys: tuple[str, ...]
    produced_type: LogicalType


@variant("FilterPushDown")
@dataclass(frozen=True, slots=True)
class FilterPushDown(SourceAbility):
    """Predicates that the source accepted, over its columns as read at that point."""

    predicates: tuple[RexNode, ...]


@variant("LimitPushDown")
@dataclass(frozen=True, slots=True)
class LimitPushDown(SourceAbility):
    """Read at most this many rows."""

    limit: int


@variant("PartitionPushDown")
@dataclass(frozen=True, slots=True)
class PartitionPushDown(SourceAbility):
    """Read only these partitions."""

    partitions: tuple[Mapping[str, str], ...]


@variant("WatermarkPushDown")
@dataclass(frozen=True, slots=True)
class WatermarkPushDown(SourceAbility):
    """The source makes the watermarks itself."""

    watermark_expr: RexNode
    idle_timeout_millis: int
    produced_type: LogicalType
    watermark_params: Any = None


@variant("SourceWatermark")
@dataclass(frozen=True, slots=True)
class SourceWatermark(SourceAbility):
    """The source's own watermarks are used."""

    produced_type: LogicalType


@variant("AggregatePushDown")
@dataclass(frozen=True, slots=True)
class AggregatePushDown(SourceAbility):
    """The source aggregates (batch plans only)."""

    input_type: LogicalType
    grouping_sets: tuple[tuple[int, ...], ...]
    aggregate_calls: tuple[AggregateCall, ...]
    produced_type: LogicalType


@tagged_union("type")
@dataclass(frozen=True, slots=True)
class SinkAbility:
    """What the planner pushed into a sink."""


@variant("Overwrite")
@dataclass(frozen=True, slots=True)
class Overwrite(SinkAbility):
    """INSERT OVERWRITE."""

    overwrite: bool


@variant("Partitioning")
@dataclass(frozen=True, slots=True)
class Partitioning(SinkAbility):
    """INSERT INTO … PARTITION (…): the static partition."""

    partition: Mapping[str, str]


@variant("WritingMetadata")
@dataclass(frozen=True, slots=True)
class WritingMetadata(SinkAbility):
    """Metadata columns to write."""

    metadata_keys: tuple[str, ...]
    consumed_type: LogicalType


@dataclass(frozen=True, slots=True)
class TableSourceSpec:
    """The table a scan reads and what was pushed into it."""

    table: ContextResolvedTable
    abilities: tuple[SourceAbility, ...] | None = None


@dataclass(frozen=True, slots=True)
class TableSinkSpec:
    """The table a sink writes; ``target_columns`` are the paths of a partial insert."""

    table: ContextResolvedTable
    abilities: tuple[SinkAbility, ...] | None = None
    target_columns: tuple[tuple[int, ...], ...] | None = None


# ---------------------------------------------------------------- joins


class JoinType(Enum):
    """The kind of a join."""

    INNER = "INNER"
    LEFT = "LEFT"
    RIGHT = "RIGHT"
    FULL = "FULL"
    SEMI = "SEMI"
    ANTI = "ANTI"


@dataclass(frozen=True, slots=True)
class JoinSpec:
    """Equal keys and what else must hold; ``filter_nulls[i]`` says that NULL keys do not match."""

    join_type: JoinType
    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]
    filter_nulls: tuple[bool, ...]
    non_equi_condition: RexNode | None = plan_field()


@dataclass(frozen=True, slots=True)
class WindowBounds:
    """leftTime − rightTime lies within [lower, upper] (milliseconds)."""

    is_event_time: bool
    left_lower_bound: int
    left_upper_bound: int
    left_time_index: int
    right_time_index: int


@dataclass(frozen=True, slots=True)
class IntervalJoinSpec:
    """A join with time bounds."""

    join_spec: JoinSpec
    window_bounds: WindowBounds


# ---------------------------------------------------------------- aggregation


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateCall:
    """One aggregate function call over input columns; ``filter_arg`` is -1 or a BOOLEAN column."""

    name: str | None
    syntax: str = FUNCTION
    internal_name: str | None = None
    catalog_name: str | None = None
    system_name: str | None = None
    class_: str | None = None
    arg_list: tuple[int, ...]
    filter_arg: int
    distinct: bool
    approximate: bool
    ignore_nulls: bool
    type: LogicalType


# ---------------------------------------------------------------- order and rank


@dataclass(frozen=True, slots=True)
class SortField:
    """A column to order by."""

    index: int
    is_ascending: bool
    null_is_last: bool


@dataclass(frozen=True, slots=True)
class SortSpec:
    """An order of rows."""

    fields: tuple[SortField, ...]


@dataclass(frozen=True, slots=True)
class PartitionSpec:
    """The columns rows are partitioned by; none means all rows together."""

    fields: tuple[int, ...]


@tagged_union("type")
@dataclass(frozen=True, slots=True)
class RankRange:
    """Which ranks are kept, counted from 1."""


@variant("Constant")
@dataclass(frozen=True, slots=True)
class ConstantRankRange(RankRange):
    """Ranks ``start`` to ``end``, both included."""

    start: int
    end: int


@variant("ConstantWithoutEnd")
@dataclass(frozen=True, slots=True)
class ConstantRankRangeWithoutEnd(RankRange):
    """Ranks from ``start`` on."""

    start: int


@variant("Variable")
@dataclass(frozen=True, slots=True)
class VariableRankRange(RankRange):
    """Ranks 1 to the value of a column."""

    end_index: int


@tagged_union("type")
@dataclass(frozen=True, slots=True)
class RankStrategy:
    """How Top-N may treat its input."""


@variant("AppendFast")
@dataclass(frozen=True, slots=True)
class AppendFastStrategy(RankStrategy):
    """The input is insert-only."""


@variant("Retract")
@dataclass(frozen=True, slots=True)
class RetractStrategy(RankStrategy):
    """The input may take any row back."""


@variant("UpdateFast")
@dataclass(frozen=True, slots=True)
class UpdateFastStrategy(RankStrategy):
    """The input updates rows by these keys, only ever upwards in the order."""

    primary_keys: tuple[int, ...]


# ---------------------------------------------------------------- windows


@tagged_union("type")
@dataclass(frozen=True, slots=True)
class WindowSpec:
    """The shape of a window; durations are ISO-8601 texts, see :func:`.durations.parse_iso_duration`."""


def _millis(text: str | None) -> int:
    return 0 if text is None else parse_iso_duration(text)


@variant("TumblingWindow")
@dataclass(frozen=True, slots=True)
class TumblingWindow(WindowSpec):
    """Windows of one size, side by side."""

    size: str
    offset: str | None = None

    @property
    def size_ms(self) -> int:
        return _millis(self.size)

    @property
    def offset_ms(self) -> int:
        return _millis(self.offset)


@variant("HoppingWindow")
@dataclass(frozen=True, slots=True)
class HoppingWindow(WindowSpec):
    """Windows of one size, a new one each slide."""

    size: str
    slide: str
    offset: str | None = None

    @property
    def size_ms(self) -> int:
        return _millis(self.size)

    @property
    def slide_ms(self) -> int:
        return _millis(self.slide)

    @property
    def offset_ms(self) -> int:
        return _millis(self.offset)


@variant("CumulativeWindow")
@dataclass(frozen=True, slots=True)
class CumulativeWindow(WindowSpec):
    """Windows of one start that grow by ``step`` up to ``max_size``."""

    max_size: str
    step: str
    offset: str | None = None

    @property
    def size_ms(self) -> int:
        return _millis(self.max_size)

    @property
    def step_ms(self) -> int:
        return _millis(self.step)

    @property
    def offset_ms(self) -> int:
        return _millis(self.offset)


@variant("SessionWindow")
@dataclass(frozen=True, slots=True)
class SessionWindow(WindowSpec):
    """Windows that end when no row came for ``gap``."""

    gap: str
    partition_key_indices: tuple[int, ...] | None = plan_field(json="partition_key_indices", default=None)

    @property
    def gap_ms(self) -> int:
        return _millis(self.gap)


@tagged_union("strategy")
@dataclass(frozen=True, slots=True)
class WindowingStrategy:
    """How an operator learns a row's window."""

    window: WindowSpec
    time_attribute_type: LogicalType


@variant("TimeAttribute")
@dataclass(frozen=True, slots=True)
class TimeAttributeWindowing(WindowingStrategy):
    """The window is assigned here, by a time attribute."""

    time_attribute_index: int
    is_rowtime: bool


@variant("WindowAttached")
@dataclass(frozen=True, slots=True)
class WindowAttachedWindowing(WindowingStrategy):
    """The row carries its window's start (-1 where absent) and end."""

    window_start: int
    window_end: int
    is_rowtime: bool


@variant("SliceAttached")
@dataclass(frozen=True, slots=True)
class SliceAttachedWindowing(WindowingStrategy):
    """The row carries the end of its slice."""

    slice_end: int
    is_rowtime: bool


@dataclass(frozen=True, slots=True)
class WindowReference:
    """The window that a property belongs to."""

    name: str
    type: LogicalType


@dataclass(frozen=True, slots=True)
class WindowProperty:
    """``kind`` is WindowStart, WindowEnd, Rowtime or Proctime."""

    kind: str
    reference: WindowReference


@dataclass(frozen=True, slots=True)
class NamedWindowProperty:
    """An output column that holds a property of the window."""

    name: str
    property: WindowProperty


@dataclass(frozen=True, slots=True)
class TimeField:
    """The time attribute of a legacy group window."""

    field_name: str
    field_index: int
    input_index: int
    field_type: LogicalType


@tagged_union("kind")
@dataclass(frozen=True, slots=True)
class GroupWindow:
    """A window of the legacy GROUP BY TUMBLE(…) syntax."""


@variant("TUMBLING")
@dataclass(frozen=True, slots=True)
class TumblingGroupWindow(GroupWindow):
    """``TUMBLE(ts, size)``; ``size`` is a count of rows where ``is_time_window`` is false."""

    alias: WindowReference
    time_field: TimeField
    is_time_window: bool
    size: Any


@variant("SLIDING")
@dataclass(frozen=True, slots=True)
class SlidingGroupWindow(GroupWindow):
    """``HOP(ts, slide, size)``."""

    alias: WindowReference
    time_field: TimeField
    is_time_window: bool
    size: Any
    slide: Any


@variant("SESSION")
@dataclass(frozen=True, slots=True)
class SessionGroupWindow(GroupWindow):
    """``SESSION(ts, gap)``."""

    alias: WindowReference
    time_field: TimeField
    gap: Any


# ---------------------------------------------------------------- over


@dataclass(frozen=True, slots=True)
class OverBound:
    """``kind`` is UNBOUNDED_PRECEDING, CURRENT_ROW, UNBOUNDED_FOLLOWING or BOUNDED_WINDOW (with an offset)."""

    kind: str
    is_preceding: bool | None = None
    offset: RexNode | None = None


@dataclass(frozen=True, slots=True)
class OverGroup:
    """Aggregates over one frame."""

    order_by: SortSpec
    is_rows: bool
    lower_bound: OverBound
    upper_bound: OverBound
    agg_calls: tuple[AggregateCall, ...]


@dataclass(frozen=True, slots=True)
class OverSpec:
    """OVER windows of one partitioning; ``constants`` are addressed behind the input's columns."""

    partition: PartitionSpec
    groups: tuple[OverGroup, ...]
    constants: tuple[RexNode, ...]
    original_input_fields: int


# ---------------------------------------------------------------- others


@dataclass(frozen=True, slots=True)
class MiniBatchInterval:
    """``interval`` milliseconds between flushes; ``mode`` is ProcTime, RowTime or None."""

    interval: int
    mode: str


@dataclass(frozen=True, slots=True)
class ConflictStrategy:
    """What a sink does with rows of one primary key that come from different upsert keys."""

    behavior: str

"""Tables, and what the planner pushed into their sources and sinks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..codec import tagged_union, variant
from ..rex import RexNode
from ..types import LogicalType
from .aggregation import AggregateCall


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
@dataclass(frozen=True, slots=True, kw_only=True)
class WatermarkPushDown(SourceAbility):
    """The source makes the watermarks itself."""

    watermark_expr: RexNode
    rowtime_expr: RexNode | None = None
    idle_timeout_millis: int
    produced_type: LogicalType
    watermark_params: Any = None


@variant("SourceWatermark")
@dataclass(frozen=True, slots=True)
class SourceWatermark(SourceAbility):
    """The source's own watermarks are used."""

    source_watermark_enabled: bool
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


@variant("Bucketing")
@dataclass(frozen=True, slots=True)
class Bucketing(SinkAbility):
    """The sink spreads rows over buckets, as the table's distribution says."""


@variant("TargetColumnWriting")
@dataclass(frozen=True, slots=True)
class TargetColumnWriting(SinkAbility):
    """Write only these columns; a path is a column and its nested fields."""

    target_columns: tuple[tuple[int, ...], ...]


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

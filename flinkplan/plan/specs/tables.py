"""Tables, and the abilities that the planner pushed into their sources and sinks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from ..codec import PlanRecord, tagged_union, variant
from ..record import cached_property
from ..references import Input, Number
from ..rex import RexNode
from ..types import LogicalType
from .aggregation import AggregateCall


class TableExpression(PlanRecord):
    """An expression of a table's schema, with its SQL text."""

    rex_node: Annotated[RexNode, Input.TABLE]
    serializable_string: str


class Column(PlanRecord):
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


class WatermarkSpec(PlanRecord):
    """``WATERMARK FOR rowtime_attribute AS expression``."""

    rowtime_attribute: str
    expression: TableExpression


class UniqueConstraint(PlanRecord):
    """A primary key."""

    name: str
    type: str
    columns: tuple[str, ...]


class ResolvedSchema(PlanRecord, dict=True, gc=True):
    """The columns of a table with its watermarks, primary key and indexes."""

    columns: tuple[Column, ...]
    watermark_specs: tuple[WatermarkSpec, ...] | None = None
    primary_key: UniqueConstraint | None = None
    indexes: Any = None

    @cached_property
    def physical_names(self) -> tuple[str, ...]:
        """The names of the physical columns."""
        return tuple([c.name for c in self.columns if c.kind is None])


class TableDistribution(PlanRecord):
    """How a table's rows are divided into buckets: HASH, RANGE, or UNKNOWN, which leaves it to the connector."""

    kind: str
    bucket_count: Annotated[int | None, Input.NONE] = None
    bucket_keys: tuple[str, ...] | None = None

    def __str__(self) -> str:
        """The clause of CREATE TABLE."""
        keys = ", ".join(f"`{key.replace('`', '``')}`" for key in self.bucket_keys or ())
        by = f" BY {'' if self.kind == 'UNKNOWN' else self.kind}({keys})" if keys else ""
        into = "" if self.bucket_count is None else f" INTO {self.bucket_count} BUCKETS"
        return f"DISTRIBUTED{by}{into}"


class ResolvedTable(PlanRecord):
    """A table of the catalog at the time when the plan was compiled."""

    schema: ResolvedSchema
    distribution: TableDistribution | None = None
    partition_keys: tuple[str, ...] | None = None
    comment: str | None = None
    options: Mapping[str, str] | None = None
    snapshot: Any = None


class ContextResolvedTable(PlanRecord):
    """A table's identifier and, unless compiled by IDENTIFIER only, its definition."""

    identifier: str = ""
    resolved_table: ResolvedTable | None = None

    @property
    def name(self) -> str:
        """The last part of the identifier, unquoted."""
        parts = re.findall(r"`((?:[^`]|``)*)`", self.identifier) or self.identifier.split(".")
        return str(parts[-1]).replace("``", "`")

    @property
    def options(self) -> Mapping[str, str]:
        """The table's options; empty if the plan contains only its name."""
        return (self.resolved_table.options if self.resolved_table else None) or {}

    @property
    def connector(self) -> str | None:
        """The table's connector; ``None`` if the plan contains only its name."""
        return self.options.get("connector")


@tagged_union("type")
class SourceAbility(PlanRecord):
    """Something that the planner pushed into a source."""


@variant("ProjectPushDown")
class ProjectPushDown(SourceAbility):
    """Read only these columns; a path is a column and its nested fields."""

    projected_fields: Annotated[tuple[tuple[int, ...], ...], Input.TABLE]
    produced_type: LogicalType


@variant("ReadingMetadata")
class ReadingMetadata(SourceAbility):
    """Append these metadata columns."""

    metadata_keys: tuple[str, ...]
    produced_type: LogicalType


@variant("FilterPushDown")
class FilterPushDown(SourceAbility):
    """Predicates that the source accepted, over its columns as read at that point."""

    predicates: Annotated[tuple[RexNode, ...], Input.TABLE]


@variant("LimitPushDown")
class LimitPushDown(SourceAbility):
    """Read at most this many rows."""

    limit: Number


@variant("PartitionPushDown")
class PartitionPushDown(SourceAbility):
    """Read only these partitions; the value ``None`` of a column stands for the default partition, whose rows hold
    NULL.
    """

    partitions: tuple[Mapping[str, str | None], ...]


@variant("WatermarkPushDown")
class WatermarkPushDown(SourceAbility, kw_only=True):
    """The source generates the watermarks."""

    watermark_expr: Annotated[RexNode, Input.TABLE]
    rowtime_expr: Annotated[RexNode | None, Input.TABLE] = None
    idle_timeout_millis: Number
    produced_type: LogicalType
    watermark_params: Any = None


@variant("SourceWatermark")
class SourceWatermark(SourceAbility):
    """The source's own watermarks are used."""

    source_watermark_enabled: bool
    produced_type: LogicalType


@variant("AggregatePushDown")
class AggregatePushDown(SourceAbility):
    """The source aggregates (batch plans only)."""

    input_type: LogicalType
    grouping_sets: Annotated[tuple[tuple[int, ...], ...], Input.TABLE]
    aggregate_calls: Annotated[tuple[AggregateCall, ...], Input.TABLE]
    produced_type: LogicalType


@tagged_union("type")
class SinkAbility(PlanRecord):
    """Something that the planner pushed into a sink."""


@variant("Overwrite")
class Overwrite(SinkAbility):
    """INSERT OVERWRITE."""

    overwrite: bool


@variant("Partitioning")
class Partitioning(SinkAbility):
    """INSERT INTO … PARTITION (…): the static partition."""

    partition: Mapping[str, str]


@variant("WritingMetadata")
class WritingMetadata(SinkAbility):
    """Metadata columns to write."""

    metadata_keys: tuple[str, ...]
    consumed_type: LogicalType


@variant("Bucketing")
class Bucketing(SinkAbility):
    """The sink distributes rows over buckets by the table's distribution."""


@variant("TargetColumnWriting")
class TargetColumnWriting(SinkAbility):
    """Write only these columns; a path is a column and its nested fields."""

    target_columns: Annotated[tuple[tuple[int, ...], ...], Input.TABLE]


class TableSourceSpec(PlanRecord):
    """The table that a scan reads, and what was pushed into its source."""

    table: ContextResolvedTable
    abilities: tuple[SourceAbility, ...] | None = None


class TableSinkSpec(PlanRecord):
    """The table that a sink writes; ``target_columns`` are the paths of a partial insert."""

    table: ContextResolvedTable
    abilities: tuple[SinkAbility, ...] | None = None
    target_columns: Annotated[tuple[tuple[int, ...], ...] | None, Input.TABLE] = None

    @property
    def overwrites(self) -> bool:
        """Whether the rows replace those of the table, or of the partitions that they are of: INSERT OVERWRITE."""
        return any(isinstance(ability, Overwrite) and ability.overwrite for ability in self.abilities or ())

    @property
    def static_partition(self) -> Mapping[str, str]:
        """The partition that INSERT … PARTITION names, by its columns."""
        named = (ability.partition for ability in self.abilities or () if isinstance(ability, Partitioning))
        return next(named, {})

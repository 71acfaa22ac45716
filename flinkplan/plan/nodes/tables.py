"""Sources, sinks and constant rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from ..connectors import has_key, source_kinds, with_declared_kinds
from ..references import Input
from ..rex import RexNode
from ..row_kinds import NOTHING, Flow, Kinds
from ..savepoint.layout import Inputs, KeptState, Layout, Value, columns, written
from ..savepoint.sink_operators import stateful_sink_operators
from ..specs import (
    Column,
    ConflictStrategy,
    ReceivedKind,
    RowKind,
    StateMetadata,
    TableSinkSpec,
    TableSourceSpec,
    WritingMetadata,
)
from ..yields import AddedColumn, TableColumn, Yield
from .base import ColumnOrder, ExecNode, State, exec_node
from .mixins import InsertsOnly, RowByRow, SameColumns

SINK_OPTIONS = (
    "table.exec.sink.keyed-shuffle",
    "table.exec.sink.not-null-enforcer",
    "table.exec.sink.rowtime-inserter",
    "table.exec.sink.type-length-enforcer",
    "table.exec.sink.upsert-materialize",
)


@exec_node(
    "table-source-scan",
    order=ColumnOrder.FIXED,
    versions={1: "1.15", 2: "2.3"},
    inputs=0,
    transformations=("source",),
    judged=("scan_table_source",),
)
class TableSourceScan(RowByRow, ExecNode, kw_only=True):
    """Reads a table."""

    scan_table_source: TableSourceSpec

    @property
    def stateful_transformations(self) -> tuple[str, ...]:
        """A source keeps its position."""
        return self.metadata.transformations

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return (TableColumn(f.name) for f in self.fields)

    @property
    def kinds(self) -> Kinds:
        """The kinds of rows of the table."""
        table = self.scan_table_source.table
        return source_kinds(with_declared_kinds(table.options, self.own_properties), has_key(table.resolved_table))

    def row_kinds(self, flow: Flow) -> Kinds:
        return self.kinds


@exec_node("values", order=ColumnOrder.FIXED, versions={1: "1.15"}, inputs=0, results=("tuples",))
class Values(RowByRow, InsertsOnly, ExecNode, kw_only=True):
    """Constant rows."""

    tuples: Annotated[tuple[tuple[RexNode, ...], ...], Input.NONE]

    @property
    def stateful_transformations(self) -> tuple[str, ...]:
        """The state holds whether all rows have been emitted."""
        return self.metadata.transformations

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return [AddedColumn()] * len(self.fields)


@exec_node(
    "sink",
    order=ColumnOrder.FIXED,
    versions={1: "1.15", 2: "2.3"},
    states=(State("sinkMaterializeState", "the key's older rows are forgotten"),),
    consumed_options=SINK_OPTIONS,
    transformations=(
        "constraint-validator",
        "partitioner",
        "watermark-timestamp-assigner",
        "upsert-materialize",
        "timestamp-inserter",
        "sink",
    ),
    identity=("input_upsert_key", "require_upsert_materialize", "upsert_materialize_strategy"),
    results=("input_changelog_mode", "conflict_strategy"),
    judged=("dynamic_table_sink", "state"),
)
class Sink(SameColumns, ExecNode, kw_only=True):
    """Writes a table; ``input_changelog_mode`` lists the kinds of rows that it receives."""

    dynamic_table_sink: TableSinkSpec
    input_changelog_mode: tuple[ReceivedKind, ...]
    require_upsert_materialize: bool = False
    upsert_materialize_strategy: str | None = None
    state: tuple[StateMetadata, ...] | None = None
    input_upsert_key: Annotated[tuple[int, ...] | None, Input.ALL] = None
    conflict_strategy: ConflictStrategy | None = None

    @property
    def input_kinds(self) -> frozenset[RowKind]:
        """The kinds of rows that it receives."""
        return frozenset(kind.row_kind for kind in self.input_changelog_mode)

    @property
    def is_stateful(self) -> bool:
        """Whether the sink keeps rows in order to materialize upserts (SinkUpsertMaterializer)."""
        return self.require_upsert_materialize

    @property
    def keeps_rows(self) -> bool:
        return self.require_upsert_materialize

    @property
    def stateful_transformations(self) -> tuple[str, ...]:
        """The materializer, and the operators of the connector with incomplete files or transactions."""
        materializer = ("upsert-materialize",) if self.require_upsert_materialize else ()
        return (
            *materializer,
            *(("sink",) if self.stateful_connector_operators is None else self.stateful_connector_operators),
        )

    @property
    def stateful_connector_operators(self) -> tuple[str, ...] | None:
        """The connector's transformations that have state in a savepoint; ``None`` if that is not known."""
        table = self.dynamic_table_sink.table
        options = table.resolved_table.options or {} if table.resolved_table else {}
        is_partitioned = bool(table.resolved_table and table.resolved_table.partition_keys)
        return stateful_sink_operators(table.connector, options, is_partitioned)

    def layout(self, inputs: Inputs) -> Layout | None:
        if not self.require_upsert_materialize:
            return None
        row = self._written_row(inputs)
        rows = (*(row[i] for i in self.input_upsert_key or () if i < len(row)), *row)
        strategy = self.upsert_materialize_strategy or "LEGACY"
        conflict = self.conflict_strategy.behavior if self.conflict_strategy else "DEDUPLICATE"
        state = KeptState("values", rows, f"rows of one key ({strategy}, {conflict})")
        return Layout("upsert-materialize", tuple(row[i] for i in self._primary_key if i < len(row)), (state,))

    @property
    def column_names(self) -> list[str]:
        """The names of the columns of the row that is written: physical columns of the table, then those of metadata.

        Those of the query if the plan does not contain the table's schema.  Source:
        ``DynamicSinkUtils.createConsumedType``.
        """
        metadata = [a for a in self.dynamic_table_sink.abilities or () if isinstance(a, WritingMetadata)]
        physical = [column.name for column in self._columns]
        names = [*physical, *(key for each in metadata for key in each.consumed_type.field_names[len(physical) :])]
        return names if len(names) == len(self.fields) else [field.name for field in self.fields]

    @property
    def _columns(self) -> list[Column]:
        """The columns of the table that are written; empty if the plan does not contain the table's schema."""
        table = self.dynamic_table_sink.table.resolved_table
        return [column for column in table.schema.columns if column.is_physical] if table else []

    @property
    def _primary_key(self) -> list[int]:
        """The columns of the table's primary key, as positions among the written columns."""
        table = self.dynamic_table_sink.table.resolved_table
        key = table.schema.primary_key.columns if table and table.schema.primary_key else ()
        names = [column.name for column in self._columns]
        return [names.index(name) for name in key if name in names]

    def _written_row(self, inputs: Inputs) -> tuple[Value, ...]:
        """The row with the types of the table, as the materializer keeps it."""
        row, types = columns(inputs), [column.data_type for column in self._columns]
        if len(row) != len(types):
            return row
        return tuple(Value(written(t), value.origin) if t else value for value, t in zip(row, types, strict=True))

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.input_upsert_key or (),)

    def row_kinds(self, flow: Flow) -> Kinds:
        """A sink emits no rows."""
        return NOTHING

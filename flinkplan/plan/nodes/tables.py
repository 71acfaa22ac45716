"""Where rows enter and leave the plan."""

from __future__ import annotations

from ..rex import RexNode
from ..specs import ConflictStrategy, RowKind, StateMetadata, TableSinkSpec, TableSourceSpec
from .base import ExecNode, exec_node

SINK_OPTIONS = (
    "table.exec.sink.keyed-shuffle",
    "table.exec.sink.not-null-enforcer",
    "table.exec.sink.rowtime-inserter",
    "table.exec.sink.type-length-enforcer",
    "table.exec.sink.upsert-materialize",
)


@exec_node("table-source-scan", versions={1: "1.15", 2: "2.3"}, inputs=0, judged=("scan_table_source",))
class TableSourceScan(ExecNode, kw_only=True):
    """Reads a table."""

    scan_table_source: TableSourceSpec


@exec_node("values", versions={1: "1.15"}, inputs=0, results=("tuples",))
class Values(ExecNode, kw_only=True):
    """Constant rows."""

    tuples: tuple[tuple[RexNode, ...], ...]


@exec_node(
    "sink",
    versions={1: "1.15", 2: "2.3"},
    states=("sinkMaterializeState",),
    consumed_options=SINK_OPTIONS,
    identity=("input_upsert_key", "require_upsert_materialize", "upsert_materialize_strategy"),
    results=("input_changelog_mode", "conflict_strategy"),
    judged=("dynamic_table_sink", "state"),
)
class Sink(ExecNode, kw_only=True):
    """Writes a table; ``input_changelog_mode`` lists the row kinds that reach it."""

    dynamic_table_sink: TableSinkSpec
    input_changelog_mode: tuple[RowKind, ...]
    require_upsert_materialize: bool = False
    state: tuple[StateMetadata, ...] | None = None
    input_upsert_key: tuple[int, ...] | None = None
    upsert_materialize_strategy: str | None = None
    conflict_strategy: ConflictStrategy | None = None

    @property
    def is_stateful(self) -> bool:
        """Whether the sink keeps rows to sort out those of one primary key."""
        return self.require_upsert_materialize

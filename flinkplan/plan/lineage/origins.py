"""The columns of tables that the columns of sinks come from, through all nodes in between."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..document import Plan
from ..nodes import ExecNode, LookupJoin, Sink, TableSourceScan
from ..record import Record
from ..specs import (
    ContextResolvedTable,
    FilterPushDown,
    PartitionPushDown,
    ProjectPushDown,
    ReadingMetadata,
    SourceAbility,
)
from .uses import Kind, NodeColumn, NodeUses, TableField, Use, read_positions, uses_of


class SourceColumn(Record):
    """A column of a table: the table's full identifier, its last part, and the column's name."""

    identifier: str
    table: str
    name: str

    def __str__(self) -> str:
        return f"{self.table}.{self.name}"


class Origin(Record):
    """A column that another one comes from, how, and through which functions, from the inside out."""

    column: SourceColumn
    kind: Kind
    functions: tuple[str, ...] = ()


class SinkLineage(Record):
    """The lineage of one sink.

    ``columns`` are the names of the table's columns with the columns they come from; ``rows`` are the columns that
    decide which rows there are.
    """

    node: Sink
    columns: tuple[tuple[str, tuple[Origin, ...]], ...]
    rows: tuple[Origin, ...]

    @property
    def table(self) -> ContextResolvedTable:
        """The table that is written."""
        return self.node.dynamic_table_sink.table


class Origins(Record):
    """The lineage of a plan: that of each sink, and the columns of each source with those that nothing uses."""

    sinks: tuple[SinkLineage, ...]
    sources: tuple[tuple[ContextResolvedTable, tuple[str, ...]], ...]
    """The tables that are read, with the names of their columns as far as the plan holds them."""

    @property
    def used(self) -> frozenset[SourceColumn]:
        """The columns on which the values or rows of a sink depend."""
        by_column = (origin for sink in self.sinks for _, origins in sink.columns for origin in origins)
        return frozenset(origin.column for origin in (*by_column, *(o for sink in self.sinks for o in sink.rows)))


def unused_columns(origins: Origins) -> list[SourceColumn]:
    """The columns of sources on which no sink depends."""
    used = origins.used
    columns = (SourceColumn(t.identifier, t.name, name) for t, names in origins.sources for name in names)
    return [column for column in columns if column not in used]


def origins_of(plan: Plan) -> Origins:
    """The lineage of a plan."""
    tracer = _Tracer(plan)
    sinks = tuple(tracer.sink(node) for node in plan.nodes if isinstance(node, Sink))
    tables = {table.identifier: table for table in map(_table, plan.nodes) if table is not None}
    return Origins(sinks, tuple((table, _column_names(table)) for table in tables.values()))


_ByColumn = Mapping[tuple[SourceColumn, Kind], tuple[str, ...]]
"""The functions through which a value comes, by the column and the kind of the dependency."""


class _Tracer:
    """Follows the columns of a plan, whose nodes are in topological order, from the sources on."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._columns: dict[int, list[_ByColumn]] = {}
        self._rows: dict[int, _ByColumn] = {}
        for id, uses in uses_of(plan).items():
            self._add(plan.by_id[id], uses)

    def _add(self, node: ExecNode, uses: NodeUses) -> None:
        table = _table(node)
        names = dict(enumerate(_read_columns(node))) if isinstance(node, TableSourceScan) else {}
        self._columns[node.id] = [
            self._merged(table, [_named(use, names.get(place)) for use in column])
            for place, column in enumerate(uses.columns)
        ]
        rows = [self._rows[source.id] for source in self._plan.inputs(node)]
        own = self._merged(table, [*uses.rows, *_pushed_conditions(node)])
        self._rows[node.id] = _union([*rows, own])

    def _merged(self, table: ContextResolvedTable | None, uses: Iterable[Use]) -> _ByColumn:
        return _union(self._followed(table, use) for use in uses)

    def _followed(self, table: ContextResolvedTable | None, use: Use) -> _ByColumn:
        if isinstance(use.column, TableField):
            if table is None or not use.column.name:
                return {}
            source = SourceColumn(table.identifier, table.name, use.column.name)
            return {(source, use.kind): use.functions}
        below = self._columns[use.column.node]
        if use.column.index >= len(below):
            return {}
        return _union(
            {(column, _together(kind, use.kind)): (*functions, *use.functions)}
            for (column, kind), functions in below[use.column.index].items()
        )

    def sink(self, node: Sink) -> SinkLineage:
        """The lineage of a sink."""
        columns = self._columns[node.id]
        listed = tuple((name, _origins(column)) for name, column in zip(node.column_names, columns, strict=True))
        return SinkLineage(node, listed, _origins(self._rows[node.id]))


def _named(use: Use, name: str | None) -> Use:
    """The use of a scan's column under its name in the table, which may be another one where it was pushed down."""
    return use if name is None else Use(TableField(name), use.kind, use.functions)


def _origins(by_column: _ByColumn) -> tuple[Origin, ...]:
    return tuple(
        Origin(column, kind, functions if kind.is_direct else ()) for (column, kind), functions in by_column.items()
    )


_DIRECT = (Kind.IDENTITY, Kind.TRANSFORMATION, Kind.AGGREGATION)


def _together(first: Kind, then: Kind) -> Kind:
    """How a column depends on another one that it uses by way of a third: the weaker of both dependencies."""
    if not then.is_direct or not first.is_direct:
        return first if then.is_direct else then
    return max(first, then, key=_DIRECT.index)


def _union(parts: Iterable[_ByColumn]) -> _ByColumn:
    merged: dict[tuple[SourceColumn, Kind], tuple[str, ...]] = {}
    for part in parts:
        for key, functions in part.items():
            merged[key] = tuple(dict.fromkeys((*merged.get(key, ()), *functions)))
    return merged


def _table(node: ExecNode) -> ContextResolvedTable | None:
    """The table that a node reads or looks up."""
    if isinstance(node, TableSourceScan):
        return node.scan_table_source.table
    return node.table if isinstance(node, LookupJoin) else None


def _column_names(table: ContextResolvedTable) -> tuple[str, ...]:
    """The physical columns and those of metadata; none where the plan holds the table's name only."""
    columns = table.resolved_table.schema.columns if table.resolved_table else ()
    return tuple(column.name for column in columns if column.expression is None)


def _read_columns(scan: TableSourceScan) -> Sequence[str]:
    """The names in the table of the columns that a scan yields."""
    *_, names = _rows_by_ability(scan)
    return names[1] if len(names[1]) == len(scan.fields) else [field.name for field in scan.fields]


def _pushed_conditions(node: ExecNode) -> Iterator[Use]:
    """The columns in the conditions that were pushed into a source."""
    if not isinstance(node, TableSourceScan):
        return
    for ability, names in _rows_by_ability(node):
        if isinstance(ability, FilterPushDown):
            positions = sorted({p for predicate in ability.predicates for p in read_positions(predicate)})
            yield from (Use(TableField(names[p]), Kind.FILTER) for p in positions if p < len(names))
        elif isinstance(ability, PartitionPushDown):
            keys = dict.fromkeys(key for partition in ability.partitions for key in partition)
            yield from (Use(TableField(key), Kind.FILTER) for key in keys)


def _rows_by_ability(scan: TableSourceScan) -> Iterator[tuple[SourceAbility | None, list[str]]]:
    """What was pushed into a source, in order, each with the columns of the table after it; at first nothing."""
    resolved = scan.scan_table_source.table.resolved_table
    columns = resolved.schema.columns if resolved else ()
    names = [column.name for column in columns if column.is_physical]
    yield None, names
    for ability in scan.scan_table_source.abilities or ():
        if isinstance(ability, ProjectPushDown):
            names = [names[path[0]] if path and path[0] < len(names) else "" for path in ability.projected_fields]
        elif isinstance(ability, ReadingMetadata):
            by_key = {column.metadata_key or column.name: column.name for column in columns if column.kind}
            names = [*names, *(by_key.get(key, key) for key in ability.metadata_keys)]
        yield ability, names


__all__ = ["NodeColumn", "Origin", "Origins", "SinkLineage", "SourceColumn", "origins_of", "unused_columns"]

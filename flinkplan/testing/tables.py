"""The tables of a plan in a test: sources read the rows that are given, in files, and sinks write nowhere."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..plan.document import Plan
from ..plan.errors import FlinkplanError, PlanError, UnsupportedError
from ..plan.nodes import ExecNode, LookupJoin, Sink, TableSourceScan
from ..plan.record import Record, replace
from ..plan.row_kinds import INSERTS
from ..plan.specs import (
    Column,
    ContextResolvedTable,
    FilterPushDown,
    PartitionPushDown,
    ProjectPushDown,
    ReadingMetadata,
    ResolvedTable,
    SourceAbility,
)
from ..planner.spec import nodes as yaml
from ..planner.spec.errors import SpecError
from ..planner.sql.source import Span
from .model import Rows
from .reading import read_rows
from .values import ValueFault, json_value


class SourceTable(Record):
    """A source table of a plan: its columns that rows have, and whether rows may be updated and deleted.

    A table that is looked up has its rows as they are after all changes; ``key`` are the columns of its primary key.
    """

    name: str
    columns: tuple[Column, ...]
    has_changes: bool
    is_looked_up: bool = False
    key: tuple[str, ...] = ()


def source_tables(plan: Plan) -> dict[str, SourceTable]:
    """The source tables of a plan by their names.

    Raises :class:`UnsupportedError` for a plan with tables that cannot be replaced by rows.
    """
    tables: dict[str, SourceTable] = {}
    for node in plan.nodes:
        if isinstance(node, LookupJoin):
            table = _source_table(node.table, has_changes=True, is_looked_up=True)
        elif isinstance(node, TableSourceScan):
            table = _source_table(node.scan_table_source.table, has_changes=node.kinds != INSERTS, is_looked_up=False)
        else:
            continue
        if tables.get(table.name, table).is_looked_up != table.is_looked_up:
            raise UnsupportedError(f"'{table.name}' is both read and looked up, which a test cannot give the rows of")
        tables[table.name] = table
    return tables


def _source_table(table: ContextResolvedTable, *, has_changes: bool, is_looked_up: bool) -> SourceTable:
    if (resolved := table.resolved_table) is None:
        raise PlanError(f"the plan does not hold the columns of '{table.name}'", hint="test the pipeline instead")
    columns = tuple(column for column in resolved.schema.columns if column.expression is None)
    key = resolved.schema.primary_key
    return SourceTable(table.name, columns, has_changes, is_looked_up, key.columns if key else ())


def with_test_tables(plan: Plan, folder: Path) -> Plan:
    """The plan over files below a folder instead of its sources, with sinks that write nowhere."""
    return replace(plan, nodes=tuple(_replaced(node, folder) for node in plan.nodes))


def with_sink(plan: Plan, options: Mapping[str, str]) -> Plan:
    """The plan with a sink of other options."""
    return replace(plan, nodes=tuple(_with_sink(node, options) for node in plan.nodes))


def _with_sink(node: ExecNode, options: Mapping[str, str]) -> ExecNode:
    if not isinstance(node, Sink):
        return node
    sink = node.dynamic_table_sink
    return replace(node, dynamic_table_sink=replace(sink, table=_with_options(sink.table, options)))


def _replaced(node: ExecNode, folder: Path) -> ExecNode:
    if isinstance(node, Sink):
        return _with_sink(node, {"connector": "blackhole"})
    if isinstance(node, LookupJoin):
        temporal = node.temporal_table
        lookup = temporal.lookup_table_source
        files = {"connector": "filesystem", "path": str(folder / node.table.name), "format": "json"}
        lookup = replace(lookup, table=_with_options(lookup.table, files))
        return replace(node, temporal_table=replace(temporal, lookup_table_source=lookup))
    if not isinstance(node, TableSourceScan):
        return node
    source = node.scan_table_source
    has_changes = node.kinds != INSERTS
    options = {
        "connector": "filesystem",
        "path": str(folder / source.table.name),
        "format": "debezium-json" if has_changes else "json",
    }
    table = _with_options(source.table, options)
    assert table.resolved_table is not None  # as source_tables has seen to
    physical, metadata = _split(table.resolved_table)
    others = [c for c in table.resolved_table.schema.columns if c.expression is not None]
    columns = (*physical, *(replace(c, kind=None, metadata_key=None, is_virtual=None) for c in metadata), *others)
    schema = replace(table.resolved_table.schema, columns=columns)
    resolved = replace(table.resolved_table, schema=schema, partition_keys=None)
    abilities = tuple(_abilities(node, physical, metadata)) if metadata else source.abilities
    return replace(
        node,
        scan_table_source=replace(source, table=replace(table, resolved_table=resolved), abilities=abilities),
    )


def _with_options(table: ContextResolvedTable, options: Mapping[str, str]) -> ContextResolvedTable:
    resolved = table.resolved_table
    return table if resolved is None else replace(table, resolved_table=replace(resolved, options=options))


def _split(table: ResolvedTable) -> tuple[list[Column], list[Column]]:
    """The physical columns, and those of metadata, which in a test are physical columns behind the others."""
    columns = table.schema.columns
    return [c for c in columns if c.is_physical], [c for c in columns if c.kind and c.expression is None]


def _abilities(
    scan: TableSourceScan, physical: Sequence[Column], metadata: Sequence[Column]
) -> Iterator[SourceAbility]:
    """What was pushed into a source, with metadata read as columns."""
    paths: list[tuple[int, ...]] = [(index,) for index in range(len(physical))]
    others = []
    for ability in scan.scan_table_source.abilities or ():
        if isinstance(ability, ProjectPushDown):
            paths = list(ability.projected_fields)
        elif isinstance(ability, ReadingMetadata):
            keys = [column.metadata_key or column.name for column in metadata]
            paths += [(len(physical) + keys.index(key),) for key in ability.metadata_keys]
        else:
            others.append(ability)
    yield ProjectPushDown(tuple(paths), scan.output_type)
    yield from others


def check_pushed(plan: Plan) -> None:
    """Raise :class:`UnsupportedError` for filters in a source, which files do not apply."""
    for node in plan.nodes:
        if isinstance(node, TableSourceScan):
            for ability in node.scan_table_source.abilities or ():
                if isinstance(ability, FilterPushDown | PartitionPushDown):
                    name = node.scan_table_source.table.name
                    raise UnsupportedError(
                        f"a filter was pushed into the source '{name}', which the rows of a test do not pass",
                        hint="compile with 'table.optimizer.source.predicate-pushdown-enabled' = 'false'",
                    )


# ---------------------------------------------------------------- files


def write_rows(folder: Path, table: SourceTable, rows: Rows, number: int) -> None:
    """Write the rows of a table as the file ``number`` of it.

    Raises :class:`SpecError`, at the row, for a column that the table does not have or a value that is not of its type.
    """
    file = folder / table.name / f"part-{0 if table.is_looked_up else number:05}"
    file.parent.mkdir(parents=True, exist_ok=True)
    objects = [(kind, _object(table, names, values, span)) for kind, names, values, span in read_rows(rows, table.name)]
    if table.is_looked_up:
        known = [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []
        file.write_text("".join(f"{json.dumps(row)}\n" for row in _changed(known, objects, table.key)), "utf-8")
        return
    lines = _messages(objects) if table.has_changes else _inserts(table, objects, rows.span)
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    os.utime(file, (number + 1, number + 1))  # files are read in the order of their times


def _object(table: SourceTable, names: Sequence[str], values: Sequence[Any], span: Span) -> dict[str, Any]:
    columns = {column.name: column for column in table.columns}
    row: dict[str, Any] = dict.fromkeys(columns)
    for name, value in zip(names, values, strict=True):
        column = columns.get(name)
        if column is None:
            from ..plan.findings import did_you_mean

            raise SpecError(f"'{table.name}' has no column '{name}'", span, did_you_mean(name, columns))
        assert column.data_type is not None
        try:
            row[name] = json_value(value, column.data_type)
        except ValueFault as fault:
            place = value.span if isinstance(value, yaml.Scalar | yaml.Sequence | yaml.Mapping) else span
            raise SpecError(f"{table.name}.{name}: {fault}", place) from None
    for column in columns.values():
        if row[column.name] is None and column.data_type is not None and not column.data_type.nullable:
            raise SpecError(f"{table.name}.{column.name} has no value, and is {column.data_type}", span)
    return row


def _changed(
    rows: list[dict[str, Any]], changes: Iterable[tuple[str, dict[str, Any]]], key: Sequence[str]
) -> list[dict[str, Any]]:
    """The rows of a table after changes; a row takes the place of the one with its key, if the table has a key."""
    for kind, row in changes:
        if key:
            rows = [other for other in rows if any(other[name] != row[name] for name in key)]
        elif kind in ("-U", "-D") and row in rows:
            rows.remove(row)
        if kind in ("+I", "+U"):
            rows.append(row)
    return rows


def _inserts(table: SourceTable, rows: Iterable[tuple[str, dict[str, Any]]], span: Span) -> Iterator[dict[str, Any]]:
    for kind, row in rows:
        if kind != "+I":
            hint = "its format has inserts only; formats such as debezium-json have changes"
            raise SpecError(f"the table '{table.name}' has no rows of the kind {kind}", span, hint)
        yield row


def _messages(rows: Sequence[tuple[str, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """Messages of Debezium: -U and the +U behind it are one update."""
    place = 0
    while place < len(rows):
        kind, row = rows[place]
        following = rows[place + 1] if place + 1 < len(rows) else None
        if kind == "-U" and following is not None and following[0] == "+U":
            yield {"before": row, "after": following[1], "op": "u"}
            place += 1
        elif kind in ("-U", "-D"):
            yield {"before": row, "after": None, "op": "d"}
        else:
            yield {"before": None, "after": row, "op": "c"}
        place += 1


__all__ = ["FlinkplanError", "SourceTable", "check_pushed", "source_tables", "with_test_tables", "write_rows"]

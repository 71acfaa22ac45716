"""Checks the columns of tables against those of scans and sinks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...plan.findings import Finding
from ...plan.nodes import Sink, TableSourceScan
from ...plan.specs import Column, ContextResolvedTable, ProjectPushDown, ReadingMetadata, TableSinkSpec, TableSourceSpec
from .raw import RawNode, RawPlan

_HINT = "see the columns of the table's schema"


def check_tables(plan: RawPlan) -> Iterator[Finding]:
    """Scans and sinks have the columns of their tables."""
    for node in plan.nodes:
        if node.cls is None:
            continue
        if issubclass(node.cls, TableSourceScan) and (source := node.values.get("scan_table_source")):
            yield from _check_names(node, "scanTableSource", source.table)
            yield from _check_scan(node, source)
        elif issubclass(node.cls, Sink) and (sink := node.values.get("dynamic_table_sink")):
            yield from _check_names(node, "dynamicTableSink", sink.table)
            yield from _check_sink(node, sink, plan.inputs(node))


def _check_names(node: RawNode, field: str, table: ContextResolvedTable) -> Iterator[Finding]:
    names: set[str] = set()
    for i, column in enumerate(table.resolved_table.schema.columns if table.resolved_table else ()):
        if column.name in names:
            at = (field, "table", "resolvedTable", "schema", "columns", i, "name")
            yield node.finding("table-columns", f"the table has another column '{column.name}'", *at)
        names.add(column.name)


def _check_scan(node: RawNode, source: TableSourceSpec) -> Iterator[Finding]:
    if source.table.resolved_table is None:
        return
    of_table = sum(c.is_physical for c in source.table.resolved_table.schema.columns)
    physical, metadata = of_table, 0
    for at, ability in enumerate(source.abilities or ()):
        match ability:
            case ProjectPushDown(projected_fields=paths):
                physical = len(paths)
                for number, path in enumerate(paths):
                    if path and path[0] not in range(of_table):
                        message = f"column {path[0]} is read, but the table has {of_table} columns"
                        steps = ("scanTableSource", "abilities", at, "projectedFields", number)
                        yield node.finding("table-columns", message, *steps, hint=_HINT)
            case ReadingMetadata(metadata_keys=keys):
                metadata = len(keys)
    read = physical + metadata
    if node.columns not in (None, read):
        message = f"{read} columns of the table are read, and the output type has {node.columns}"
        yield node.finding("table-columns", message, "outputType", hint=_HINT)


def _check_sink(node: RawNode, sink: TableSinkSpec, inputs: Sequence[RawNode]) -> Iterator[Finding]:
    if sink.table.resolved_table is None or not inputs:
        return
    stored = sum(_is_stored(column) for column in sink.table.resolved_table.schema.columns)
    if inputs[0].columns not in (None, stored):
        message = f"the table stores {stored} columns, and the input has {inputs[0].columns}"
        yield node.finding("table-columns", message, "dynamicTableSink", hint=_HINT)


def _is_stored(column: Column) -> bool:
    return column.is_physical or (column.kind == "METADATA" and not column.is_virtual)

"""The tables that a plan reads, looks up and writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .codec import read_object, write_object
from .document import Plan
from .nodes import DeltaJoin, ExecNode, LookupJoin, Sink, TableSourceScan
from .record import replace
from .secrets import remember
from .specs import ContextResolvedTable

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def plan_tables(plan: Plan) -> Iterator[tuple[ExecNode, ContextResolvedTable]]:
    """The nodes that read, look up or write a table, with this."""
    for node in plan.nodes:
        if isinstance(node, TableSourceScan):
            yield node, node.scan_table_source.table
        elif isinstance(node, LookupJoin):
            yield node, node.table
        elif isinstance(node, Sink):
            yield node, node.dynamic_table_sink.table


def with_tables(plan: Plan, change: Callable[[ContextResolvedTable], ContextResolvedTable]) -> Plan:
    """The plan with the tables that ``change`` gives for its own."""
    return replace(plan, nodes=tuple(_changed(node, change) for node in plan.nodes))


def _changed(node: ExecNode, change: Callable[[ContextResolvedTable], ContextResolvedTable]) -> ExecNode:
    if isinstance(node, TableSourceScan):
        source = node.scan_table_source
        return replace(node, scan_table_source=replace(source, table=change(source.table)))
    if isinstance(node, LookupJoin):
        temporal, looked_up = node.temporal_table, node.temporal_table.lookup_table_source
        looked_up = replace(looked_up, table=change(looked_up.table))
        return replace(node, temporal_table=replace(temporal, lookup_table_source=looked_up))
    if isinstance(node, DeltaJoin):
        return replace(node, **{name: _changed_json(value, change) for name, value in node.lookup_json.items()})
    if isinstance(node, Sink):
        sink = node.dynamic_table_sink
        return replace(node, dynamic_table_sink=replace(sink, table=change(sink.table)))
    return node


def _changed_json(json: Any, change: Callable[[ContextResolvedTable], ContextResolvedTable]) -> Any:
    """JSON in which the tables that are looked up are those that ``change`` gives."""
    if isinstance(json, list | tuple):
        return type(json)(_changed_json(each, change) for each in json)
    if not isinstance(json, Mapping):
        return json
    changed = {key: _changed_json(value, change) for key, value in json.items()}
    source = json.get("lookupTableSource")
    if isinstance(source, Mapping) and "table" in source:
        table = write_object(change(read_object(ContextResolvedTable, source["table"])))
        changed["lookupTableSource"] = {**changed["lookupTableSource"], "table": table}
    return changed


DESCRIPTORS = "PROTOBUF_DESCRIPTORS"
"""The variable that names the files of descriptors of Protocol Buffers, as ``PATH`` names folders."""


def replace_variables(options: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """``options`` with every ``${NAME}`` replaced; what is unset stays (see :func:`unset_variables`)."""
    return {k: _VARIABLE.sub(lambda m: variables.get(m[1], m[0]), v) for k, v in options.items()}


def unset_variables(options: Iterable[str], variables: Mapping[str, str]) -> list[str]:
    """The names used in the option values but not set, in order of appearance."""
    names = (m[1] for text in options for m in _VARIABLE.finditer(text))
    return list(dict.fromkeys(n for n in names if n not in variables))


def with_variables(plan: Plan, variables: Mapping[str, str]) -> Plan:
    """The plan with the variables in the options of its tables replaced."""

    def filled_in(table: ContextResolvedTable) -> ContextResolvedTable:
        resolved = table.resolved_table
        if resolved is None or resolved.options is None:
            return table
        options = replace_variables(resolved.options, variables)
        remember(options, resolved.options)
        return replace(table, resolved_table=replace(resolved, options=options))

    return with_tables(plan, filled_in) if variables else plan


def called(table: ContextResolvedTable) -> set[str]:
    """What a table may be called on the command line."""
    return {table.name, table.identifier, table.identifier.replace("`", "")}


def with_options(table: ContextResolvedTable, options: Mapping[str, str]) -> ContextResolvedTable:
    """The table with other options, if the plan defines it."""
    resolved = table.resolved_table
    return table if resolved is None else replace(table, resolved_table=replace(resolved, options=options))


def as_defined_in(other: Plan, plan: Plan) -> Plan:
    """The plan without those definitions of tables, and options of them, that ``other`` leaves to the catalog.

    So a plan that is complete can be compared with one that is not.
    """
    references = {table.identifier: table.resolved_table for _, table in plan_tables(other)}

    def reduced(table: ContextResolvedTable) -> ContextResolvedTable:
        resolved = table.resolved_table
        if resolved is None or table.identifier not in references:
            return table
        reference = references[table.identifier]
        if reference is None:
            return replace(table, resolved_table=None)
        return replace(table, resolved_table=replace(resolved, options=None)) if reference.options is None else table

    return with_tables(plan, reduced)

"""The tables of a plan as connectors see them: options filled in and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..plan.document import Plan
from ..plan.errors import FlinkplanError
from ..plan.nodes import ExecNode, Sink, TableSourceScan
from ..plan.specs import Column, ContextResolvedTable, Overwrite, ResolvedTable
from ..plan.types import LogicalType
from .errors import TableError
from .options import replace_variables, unset_variables


@dataclass(frozen=True)
class Table:
    """A table of the plan.  ``name`` is its last part, unquoted; ``options`` have their variables replaced."""

    identifier: str
    name: str
    resolved: ResolvedTable
    options: Mapping[str, str]

    @property
    def physical(self) -> tuple[tuple[str, LogicalType], ...]:
        """The physical columns."""
        return tuple((c.name, _type(c)) for c in self.resolved.schema.columns if c.is_physical)

    @property
    def partition_keys(self) -> tuple[str, ...]:
        return self.resolved.partition_keys or ()

    @property
    def primary_key(self) -> tuple[str, ...]:
        key = self.resolved.schema.primary_key
        return key.columns if key else ()

    def option(self, key: str, default: str) -> str:
        return self.options.get(key, default)


def _type(column: Column) -> LogicalType:
    if column.data_type is None:
        raise TableError(f"the column '{column.name}' has no type")
    return column.data_type.regular()


def table_name(reference: ContextResolvedTable) -> str:
    """The last part of a table's name, unquoted."""
    return reference.identifier.rsplit("`.`", 1)[-1].strip("`").replace("``", "`")


def table_of(reference: ContextResolvedTable, variables: Mapping[str, str]) -> Table:
    """The table of a scan or sink.  Raises :class:`TableError` where the plan holds its name only."""
    if reference.resolved_table is None:
        raise TableError(
            f"the plan does not hold the definition of {reference.identifier}",
            hint="compile it with 'table.plan.compile.catalog-objects' = 'ALL'",
        )
    options = replace_variables(reference.resolved_table.options or {}, variables)
    return Table(reference.identifier, table_name(reference), reference.resolved_table, options)


def plan_tables(plan: Plan) -> Iterator[tuple[ExecNode, ContextResolvedTable]]:
    """The scans and sinks of a plan with their tables."""
    for node in plan.nodes:
        if isinstance(node, TableSourceScan):
            yield node, node.scan_table_source.table
        elif isinstance(node, Sink):
            yield node, node.dynamic_table_sink.table


def check_tables(plan: Plan, variables: Mapping[str, str]) -> None:
    """Raise :class:`TableError` for unset variables, options that cannot be used, and tables to be overwritten."""
    from .connectors import find_connector

    texts = (
        value
        for _, reference in plan_tables(plan)
        if reference.resolved_table
        for value in (reference.resolved_table.options or {}).values()
    )
    if unset := unset_variables(texts, variables):
        names = ", ".join(f"${{{name}}}" for name in unset)
        settings = " ".join(f"--var {name}=…" for name in unset)
        raise TableError(f"the tables' options use {names}, not set", hint=f"set them: {settings}")
    for node, reference in plan_tables(plan):
        try:
            if isinstance(node, Sink) and Overwrite(True) in (node.dynamic_table_sink.abilities or ()):
                raise TableError("a streaming job cannot overwrite a table", hint="write INSERT INTO")
            table = table_of(reference, variables)
            find_connector(table).check(table, isinstance(node, TableSourceScan))
        except FlinkplanError as e:
            e.where = e.where or f"table {reference.identifier}"
            raise

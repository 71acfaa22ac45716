"""The tables of a plan as connectors see them: options filled in and checked."""

from __future__ import annotations

from collections.abc import Mapping

from ...plan.record import Record
from ...plan.secrets import remember
from ...plan.specs import Column, ContextResolvedTable, ResolvedTable
from ...plan.tables import DESCRIPTORS, replace_variables
from ...plan.types import LogicalType
from ..errors import TableError


class Table(Record):
    """A table of the plan.  ``name`` is its last part, unquoted; ``options`` have their variables replaced.

    ``descriptors`` are the paths of the user's files of descriptors of Protocol Buffers, as ``PATH`` has folders.
    """

    identifier: str
    name: str
    resolved: ResolvedTable
    options: Mapping[str, str]
    descriptors: str = ""

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


def table_of(reference: ContextResolvedTable, variables: Mapping[str, str]) -> Table:
    """The table of a scan or sink.  Raises :class:`TableError` where the plan does not hold all of it."""
    resolved = reference.resolved_table
    if resolved is None or resolved.options is None:
        what = "definition" if resolved is None else "options"
        raise TableError(
            f"the plan does not hold the {what} of {reference.identifier}",
            hint="name the script that defines the table, --tables SCRIPT; or compile the plan with a table that is "
            "not temporary and 'table.plan.compile.catalog-objects' = 'ALL'",
        )
    options = replace_variables(resolved.options, variables)
    remember(options, resolved.options)
    return Table(reference.identifier, reference.name, resolved, options, variables.get(DESCRIPTORS, ""))


def defined_options(reference: ContextResolvedTable, variables: Mapping[str, str]) -> Mapping[str, str]:
    """The options of a table with their variables replaced; none where the plan does not hold them."""
    resolved = reference.resolved_table
    return replace_variables((resolved.options if resolved else None) or {}, variables)

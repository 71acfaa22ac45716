"""The connectors of tables, found by the option ``connector``."""

from __future__ import annotations

from collections.abc import Mapping

from ...plan.document import Plan
from ...plan.nodes import TableSourceScan
from ..errors import TableError
from ..tables import Table, table_of
from . import blackhole, datagen, filesystem, printing
from .base import Connector, registered

__all__ = ["Connector", "blackhole", "datagen", "filesystem", "find_connector", "is_bounded", "printing"]


def find_connector(table: Table) -> Connector:
    """The connector that a table's options name.  Raises :class:`TableError` for none or an unknown one."""
    name = table.options.get("connector")
    known = ", ".join(sorted(registered()))
    if name is None:
        raise TableError("the option 'connector' is missing", where=f"table {table.identifier}", hint=f"one of {known}")
    if name not in registered():
        where = f"table {table.identifier}"
        raise TableError(f"the connector '{name}' is not executed here", where=where, hint=f"these are: {known}")
    return registered()[name]


def is_bounded(plan: Plan, variables: Mapping[str, str]) -> bool:
    """Whether the input of a plan ends: that of each of its scans.  Raises :class:`TableError` as :func:`table_of`."""
    scans = (node.scan_table_source.table for node in plan.nodes if isinstance(node, TableSourceScan))
    return all(find_connector(table).is_bounded(table) for table in (table_of(scan, variables) for scan in scans))

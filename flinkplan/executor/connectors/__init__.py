"""The connectors of tables, found by the option ``connector``: one module each, which registers its own."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from ...plan.document import Plan
from ...plan.nodes import TableSourceScan
from ..errors import TableError
from .base import Connector, registered
from .tables import Table, table_of

__all__ = ["Connector", "find_connector", "is_bounded"]


@cache
def _connectors() -> Mapping[str, Connector]:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return registered()


def find_connector(table: Table) -> Connector:
    """The connector that a table's options name.  Raises :class:`TableError` for none or an unknown one."""
    name = table.options.get("connector")
    known = ", ".join(sorted(_connectors()))
    if name is None:
        raise TableError("the option 'connector' is missing", where=f"table {table.identifier}", hint=f"one of {known}")
    if name not in _connectors():
        where = f"table {table.identifier}"
        raise TableError(f"the connector '{name}' is not executed here", where=where, hint=f"these are: {known}")
    return _connectors()[name]


def is_bounded(plan: Plan, variables: Mapping[str, str]) -> bool:
    """Whether the input of a plan ends: that of each of its scans.  Raises :class:`TableError` as :func:`table_of`."""
    scans = (node.scan_table_source.table for node in plan.nodes if isinstance(node, TableSourceScan))
    return all(find_connector(table).is_bounded(table) for table in (table_of(scan, variables) for scan in scans))

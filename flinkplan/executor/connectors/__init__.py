"""The connectors of tables, found by the option ``connector``."""

from __future__ import annotations

from ..errors import TableError
from ..tables import Table
from . import blackhole, datagen, filesystem, printing
from .base import Connector, registered

__all__ = ["Connector", "blackhole", "datagen", "filesystem", "find_connector", "printing"]


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

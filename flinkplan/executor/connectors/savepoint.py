"""The connector ``savepoint``: tables over the state of an operator, with a row for each key."""

from __future__ import annotations

from ...plan.connectors.savepoint import PATH
from ...plan.files import Place
from ..errors import TableError
from .base import Connector, connector
from .tables import Table


@connector
class SavepointTables(Connector):
    """The keys of an operator, each with the values that the operator keeps for it."""

    name = "savepoint"
    repeats = True

    def check(self, table: Table, is_source: bool) -> None:
        if Place.of(table.options[PATH]).local is None:
            where = f"table {table.identifier}"
            raise TableError("state is read from local directories", where=where, hint="copy it to this machine")

    def real_time_obstacle(self, table: Table, is_source: bool) -> str | None:
        return "its rows are read once" if is_source else None

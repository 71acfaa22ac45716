"""The connector ``delta``: tables of Delta Lake in local directories."""

from __future__ import annotations

from ...plan.connectors.delta import PATH, is_streaming
from ...plan.files import Place
from ..errors import TableError
from .base import connector
from .lake import LakeConnector, check_column_types
from .tables import Table


@connector
class Delta(LakeConnector):
    """Each batch is one version, which appends rows or replaces those of their keys; versions are read."""

    name = "delta"

    def check(self, table: Table, is_source: bool) -> None:
        if Place.of(table.options[PATH]).local is None:
            where = f"table {table.identifier}"
            raise TableError("tables of Delta Lake are in local directories here", where=where)
        check_column_types(table, "a Delta table")

    def is_bounded(self, table: Table) -> bool:
        return not is_streaming(table.options)

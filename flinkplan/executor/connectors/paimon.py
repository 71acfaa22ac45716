"""The connector ``paimon``: tables of Apache Paimon in local directories."""

from __future__ import annotations

from ...plan.connectors.paimon import COMPACTED_BY_OTHERS, PATH, UNKEYED, is_pinned
from ...plan.files import Place
from ..errors import TableError
from .base import connector
from .lake import LakeConnector, check_column_types
from .tables import Table


@connector
class Paimon(LakeConnector):
    """Each batch is one snapshot, which appends rows or replaces those of their keys; snapshots are read."""

    name = "paimon"
    ends_in_batch_mode = True

    def check(self, table: Table, is_source: bool) -> None:
        where = f"table {table.identifier}"
        if PATH not in table.options:
            hint = "name its directory, or define it in a catalog with a 'warehouse'"
            raise TableError(f"the option '{PATH}' of the Paimon table is missing", where=where, hint=hint)
        if Place.of(table.options[PATH]).local is None:
            raise TableError("Paimon tables are in local directories here", where=where)
        check_column_types(table, "a Paimon table")
        for key, values in COMPACTED_BY_OTHERS.items():
            if not is_source and (value := table.options.get(key)) in values:
                raise TableError(
                    f"a Paimon table with '{key}' = '{value}' is not written here: its rows are there once Paimon's "
                    "compaction has run, which does not run here",
                    where=where,
                )

    def is_bounded(self, table: Table) -> bool:
        return is_pinned(table.options)

    def changes_obstacle(self, table: Table) -> str | None:
        return None if table.primary_key else UNKEYED

    def replaces(self, table: Table) -> bool:
        return bool(table.primary_key)

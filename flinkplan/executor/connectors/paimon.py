"""The connector ``paimon``: tables of Apache Paimon in local directories."""

from __future__ import annotations

from ...plan.connectors.paimon import COMPACTED_BY_OTHERS, PATH, UNKEYED, is_pinned
from ...plan.files import Place
from ...plan.types import LogicalType
from ...plan.types.readable import readable
from ..errors import TableError
from ..jvm.types import has_nanos
from .base import Connector, connector
from .tables import Table

_ATOMIC = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "CHAR", "VARCHAR"),
    *("BINARY", "VARBINARY", "DATE", "TIMESTAMP", "TIMESTAMP_LTZ"),
)


@connector
class Paimon(Connector):
    """Each batch is one snapshot, which appends rows or replaces those of their keys; snapshots are read."""

    name = "paimon"
    repeats = True
    ends_in_batch_mode = True

    def check(self, table: Table, is_source: bool) -> None:
        where = f"table {table.identifier}"
        if PATH not in table.options:
            hint = "name its directory, or define it in a catalog with a 'warehouse'"
            raise TableError(f"the option '{PATH}' of the Paimon table is missing", where=where, hint=hint)
        if Place.of(table.options[PATH]).local is None:
            raise TableError("Paimon tables are in local directories here", where=where)
        for name, t in table.physical:
            if not _is_held(t):
                message = readable(f"no column of a Paimon table is of the type {t} here, as '{name}' is")
                raise TableError(message, where=where)
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

    def real_time_obstacle(self, table: Table, is_source: bool) -> str | None:
        return "its rows are read in batches" if is_source else "its rows are committed in batches"


def _is_held(t: LogicalType) -> bool:
    if t.root in ("ARRAY", "MAP"):
        return all(map(_is_held, t.children))
    return t.root in _ATOMIC and not has_nanos(t)

"""The connector ``delta``: tables of Delta Lake in local directories."""

from __future__ import annotations

from ...plan.connectors.delta import PATH, is_streaming
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
class Delta(Connector):
    """Each batch is one version, which appends rows or replaces those of their keys; versions are read."""

    name = "delta"
    repeats = True

    def check(self, table: Table, is_source: bool) -> None:
        where = f"table {table.identifier}"
        if Place.of(table.options[PATH]).local is None:
            raise TableError("tables of Delta Lake are in local directories here", where=where)
        for name, t in table.physical:
            if not _is_held(t):
                raise TableError(
                    readable(f"no column of a Delta table is of the type {t}, as '{name}' is"), where=where
                )

    def is_bounded(self, table: Table) -> bool:
        return not is_streaming(table.options)

    def real_time_obstacle(self, table: Table, is_source: bool) -> str | None:
        return "its rows are read in batches" if is_source else "its rows are committed in batches"


def _is_held(t: LogicalType) -> bool:
    if t.root in ("ARRAY", "MAP"):
        return all(map(_is_held, t.children))
    return t.root in _ATOMIC and not has_nanos(t)

"""The connector ``delta``: tables of Delta Lake in local directories."""

from __future__ import annotations

from ...plan.connectors.delta import MODE, PATH, STREAMED
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
    """Rows are appended in one commit a batch; a snapshot is read."""

    name = "delta"
    repeats = True

    def check(self, table: Table, is_source: bool) -> None:
        where = f"table {table.identifier}"
        if Place.of(table.options[PATH]).local is None:
            raise TableError("tables of Delta Lake are in local directories here", where=where)
        if is_source and table.options.get(MODE) == "streaming":
            raise TableError(STREAMED, where=where, hint=f"write '{MODE}' = 'batch', or leave it out")
        for name, t in table.physical:
            if not _is_held(t):
                raise TableError(
                    readable(f"no column of a Delta table is of the type {t}, as '{name}' is"), where=where
                )

    def real_time_obstacle(self, table: Table, is_source: bool) -> str | None:
        return "its rows are read once" if is_source else "its rows are committed in batches"


def _is_held(t: LogicalType) -> bool:
    if t.root in ("ARRAY", "MAP"):
        return all(map(_is_held, t.children))
    return t.root in _ATOMIC and not has_nanos(t)

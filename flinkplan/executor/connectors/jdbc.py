"""The connector ``jdbc``: tables of databases.

Sources: Flink's ``JdbcDynamicTableSource``, ``JdbcDynamicTableSink`` and the dialects of Derby and PostgreSQL.
"""

from __future__ import annotations

from ...plan.connectors.jdbc_urls import url_problems
from ...plan.types.readable import readable
from ..errors import TableError
from ..jvm.types import has_nanos
from .base import Connector, connector
from .tables import Table

_HELD = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "CHAR", "VARCHAR"),
    *("BINARY", "VARBINARY", "DATE", "TIME", "TIMESTAMP"),
)
"""The types of columns."""


@connector
class Jdbc(Connector):
    """Rows that are read once, added, or put in the place of those of their key."""

    name = "jdbc"
    answers_lookups = True
    upserts = True

    def check(self, table: Table, is_source: bool) -> None:
        where = f"table {table.identifier}"
        for problem in url_problems(table.options):
            raise TableError(problem.message, where=where, hint=problem.hint)
        for name, t in table.physical:
            if t.root not in _HELD or has_nanos(t):
                raise TableError(readable(f"no database column is of the type {t}, as '{name}' is"), where=where)

    def real_time_obstacle(self, table: Table, is_source: bool) -> str | None:
        return "its rows are read once" if is_source else None

"""The connectors ``postgres-cdc`` and ``mysql-cdc``: tables of databases, first as they are, then as they change.

Sources: Flink CDC's ``PostgreSQLTableSource`` and ``MySqlTableSource``, and their documentation.
"""

from __future__ import annotations

from ...plan.connectors.cdc import EXECUTED_PLUGIN, PLUGIN, is_bounded, option_default, reads_snapshot
from ...plan.types.readable import readable
from ..errors import TableError
from ..jvm.types import is_held
from .base import Connector, connector
from .tables import Table

_HELD = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "CHAR", "VARCHAR"),
    *("BINARY", "VARBINARY", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ"),
)


@connector
class MysqlCdc(Connector):
    """The snapshot is read in chunks, then the binary log."""

    name = "mysql-cdc"

    def check(self, table: Table, is_source: bool) -> None:
        for name, t in table.physical:
            if not is_held(t, _HELD, ("ARRAY",)):
                where = f"table {table.identifier}"
                raise TableError(readable(f"no column is read as {t}, as '{name}' is"), where=where)

    def is_bounded(self, table: Table) -> bool:
        return is_bounded(table.options)

    def may_last(self, table: Table) -> bool:
        return reads_snapshot(table.options)


@connector
class PostgresCdc(MysqlCdc):
    """The snapshot is read in chunks, then the log of a replication slot."""

    name = "postgres-cdc"

    def check(self, table: Table, is_source: bool) -> None:
        super().check(table, is_source)
        plugin = option_default(table.options, PLUGIN)
        if plugin != EXECUTED_PLUGIN:
            raise TableError(
                f"the log is not decoded here by '{plugin}'",
                where=f"table {table.identifier}",
                hint=f"set '{PLUGIN}' = '{EXECUTED_PLUGIN}', which each server has",
            )

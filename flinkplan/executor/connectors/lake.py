"""What the connectors of lake tables have in common."""

from __future__ import annotations

from collections.abc import Collection

from ...plan.types.readable import readable
from ..errors import TableError
from ..jvm.types import is_held
from .base import Connector
from .tables import Table

ATOMIC_TYPES = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "CHAR", "VARCHAR"),
    *("BINARY", "VARBINARY", "DATE", "TIMESTAMP", "TIMESTAMP_LTZ"),
)
"""The types of columns that tables of Delta Lake and Apache Paimon hold, besides arrays and maps of them."""


class LakeConnector(Connector):
    """Each batch is one commit; those of others are read one after another."""

    repeats = True

    def real_time_obstacle(self, table: Table, is_source: bool) -> str | None:
        return "its rows are read in batches" if is_source else "its rows are committed in batches"


def check_column_types(table: Table, a_table: str, atomic: Collection[str] = ATOMIC_TYPES) -> None:
    """Raise :class:`TableError` for a column that a table (such as "a Delta table") does not hold."""
    for name, t in table.physical:
        if not is_held(t, atomic):
            message = readable(f"no column of {a_table} is of the type {t} here, as '{name}' is")
            raise TableError(message, where=f"table {table.identifier}")

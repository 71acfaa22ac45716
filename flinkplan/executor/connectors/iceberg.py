"""The connector ``iceberg``: Iceberg tables of SQL and REST catalogs, in local warehouses."""

from __future__ import annotations

from ...plan.connectors.iceberg import (
    CATALOG,
    CHANGING,
    OVERWRITTEN,
    TYPE,
    UNKEYED,
    UPSERT,
    URI,
    is_streaming,
)
from ...plan.options import is_true
from ...plan.types.readable import readable
from ..errors import TableError
from ..jvm.types import has_nanos, is_held
from .base import connector
from .lake import LakeConnector
from .tables import Table

_AS_THEY_ARE = (
    *("BOOLEAN", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "CHAR", "VARCHAR", "BINARY", "VARBINARY", "DATE"),
    "TIMESTAMP_LTZ",
)
_CONVERTED = ("TINYINT", "SMALLINT", "TIMESTAMP")
"""Types whose values a table holds as those of others, or Spark does, so that they cannot be in arrays and maps."""

_EXECUTED = ("rest", "jdbc")


@connector
class Iceberg(LakeConnector):
    """Each batch is one snapshot, which appends rows or replaces those of their keys; snapshots are read."""

    name = "iceberg"

    def check(self, table: Table, is_source: bool) -> None:
        where, options = f"table {table.identifier}", table.options
        kind = options.get(TYPE)
        if kind is not None and kind not in _EXECUTED:
            hint = f"catalogs of the types {' and '.join(_EXECUTED)} are"
            raise TableError(f"Iceberg catalogs of the type '{kind}' are not asked here", where=where, hint=hint)
        if kind is not None and URI not in options:
            raise TableError(f"the option '{URI}' of the catalog is missing", where=where)
        if kind is None and CATALOG not in options:
            raise TableError(f"neither '{CATALOG}' nor '{TYPE}' says which catalog has the table", where=where)
        if not is_source and (changing := [key for key in CHANGING if is_true(options.get(key))]):
            if changing[-1] not in UPSERT:
                raise TableError(OVERWRITTEN, where=where, hint=f"leave '{changing[-1]}' out")
            if not table.primary_key:
                raise TableError(UNKEYED, where=where, hint=f"declare PRIMARY KEY, or leave '{changing[0]}' out")
        for name, t in table.physical:
            if (t.root not in _CONVERTED and not is_held(t, _AS_THEY_ARE)) or has_nanos(t):
                message = readable(f"no column of an Iceberg table is of the type {t}, as '{name}' is")
                raise TableError(message, where=where)

    def is_bounded(self, table: Table) -> bool:
        return not is_streaming(table.options)

    def changes_obstacle(self, table: Table) -> str | None:
        return None if table.primary_key else UNKEYED

    def replaces(self, table: Table) -> bool:
        return bool(table.primary_key) and any(is_true(table.options.get(key)) for key in UPSERT)

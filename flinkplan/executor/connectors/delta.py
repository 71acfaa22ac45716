"""The connector ``delta``: tables of Delta Lake in local directories and in S3."""

from __future__ import annotations

from ...plan.connectors.delta import PATH, is_streaming
from ...plan.files import Place
from ..errors import TableError
from .base import connector
from .lake import LakeConnector, check_column_types
from .tables import Table

_SCHEMES = ("s3", "s3a")
"""The schemes of URIs of object stores: of others there are in ``deltalake`` it was not tried."""


@connector
class Delta(LakeConnector):
    """Each batch is one version, which appends rows or replaces those of their keys; versions are read."""

    name = "delta"

    def check(self, table: Table, is_source: bool) -> None:
        if (scheme := Place.of(table.options[PATH]).scheme) not in ("", *_SCHEMES):
            where, hint = f"table {table.identifier}", f"name a local directory, or a URI of {' or '.join(_SCHEMES)}"
            raise TableError(f"tables of Delta Lake are not read from '{scheme}' here", where=where, hint=hint)
        check_column_types(table, "a Delta table")

    def is_bounded(self, table: Table) -> bool:
        return not is_streaming(table.options)

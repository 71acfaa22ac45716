"""The connector ``iceberg``: data files by Spark's Parquet, the table's snapshots by PyIceberg."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....plan.connectors.iceberg import is_streaming, reads_changes
from ....plan.nodes import TableSourceScan
from ....plan.types import LogicalType
from ...connectors.tables import Table
from ...formats.java_types import java_row
from ...jvm.callbacks import start_callbacks
from ...jvm.spark import T, fields
from ...jvm.types import spark_type
from ...lake.iceberg import IcebergLog, check_columns, snapshot
from ...lake.iceberg_changes import IcebergChanges
from ...lake.log import JavaTableLog
from ...lake.positions import StoredFile
from ..context import TranslationContext
from ..stream import KIND, SEQUENCE, Stream
from .base import TableBuilder, table_builder
from .lake import read_files, staging
from .requests import Request

_STORED = {"TINYINT": "int", "SMALLINT": "int", "TIMESTAMP": "timestamp_ntz"}
"""The types of Spark in which data files hold values of others."""


@table_builder
class Iceberg(TableBuilder):
    """Each batch is one snapshot, which appends rows or replaces those of their keys; snapshots are read."""

    name = "iceberg"

    def read(self, table: Table, node: TableSourceScan, context: TranslationContext) -> Stream:
        request = Request.of(table, node.scan_table_source.abilities, {})
        files: Sequence[StoredFile] | IcebergChanges
        if is_streaming(table.options):
            files = IcebergChanges(table)
            open_file = files.open_file
        else:
            now = snapshot(table)
            check_columns(table, now.columns)
            files, open_file = now.files, now.open_file
        changes = reads_changes(table.options)
        rows = read_files(table, files, (), _stored, request, context, changes=changes, open_file=open_file)
        hidden = [KIND, SEQUENCE] if changes else [SEQUENCE]
        return Stream(fields.select(rows, [*request.outputs(rows), *hidden]), node.output_type, changes)

    def writer(self, table: Table, context: TranslationContext) -> Mapping[str, Any]:
        stored = [(n, t) for n, t in table.physical if n not in table.partition_keys]
        data = IcebergLog(table).data
        return {
            "columnar": True,
            "path": str(data) if data is not None else staging(table, context),
            "handsOver": data is None,
            "format": "parquet",
            "options": {},
            "type": java_row(stored),
            "partitions": list(table.partition_keys),
            "stored": {name: _STORED[t.root] for name, t in table.physical if t.root in _STORED},
            "order": [name for name, _ in table.physical],
        }

    def table_log(self, table: Table, context: TranslationContext) -> Any:
        log = IcebergLog(table)
        start_callbacks(context.spark)
        return JavaTableLog(log)


def _stored(t: LogicalType) -> Any:
    return {"int": T.IntegerType(), "timestamp_ntz": T.TimestampNTZType()}.get(_STORED.get(t.root, ""), spark_type(t))

"""The connector ``delta``: data files by Spark's Parquet, the table's log by ``deltalake``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....plan.connectors.delta import PATH, is_streaming, reads_changes
from ....plan.nodes import TableSourceScan
from ...connectors.tables import Table
from ...formats.java_types import java_row
from ...jvm.callbacks import start_callbacks
from ...jvm.spark import T, fields
from ...jvm.types import spark_type
from ...lake.delta import DeltaLog, check_columns, opener, snapshot
from ...lake.delta_changes import DeltaChanges
from ...lake.directories import directory_of
from ...lake.log import JavaTableLog
from ...lake.positions import StoredFile
from ..context import TranslationContext
from ..stream import KIND, SEQUENCE, Stream
from .base import TableBuilder, table_builder
from .lake import read_files, staging
from .requests import Request


@table_builder
class Delta(TableBuilder):
    """Each batch is one version, which appends rows or replaces those of their keys; versions are read."""

    name = "delta"

    def read(self, table: Table, node: TableSourceScan, context: TranslationContext) -> Stream:
        request = Request.of(table, node.scan_table_source.abilities, {})
        schema = _schema(table).json()
        files: Sequence[StoredFile] | DeltaChanges
        if is_streaming(table.options):
            files = DeltaChanges(table, schema)
            partitions = files.partitions
        else:
            now = snapshot(table)
            check_columns(now.schema, schema, f"table {table.identifier}")
            files, partitions = now.files, now.partitions
        changes = reads_changes(table.options)
        rows = read_files(
            table,
            files,
            partitions,
            spark_type,
            request,
            context,
            changes=changes,
            open_file=opener(directory_of(table, PATH)),
        )
        hidden = [KIND, SEQUENCE] if changes else [SEQUENCE]
        return Stream(fields.select(rows, [*request.outputs(rows), *hidden]), node.output_type, changes)

    def writer(self, table: Table, context: TranslationContext) -> Mapping[str, Any]:
        stored = [(n, t) for n, t in table.physical if n not in table.partition_keys]
        local = directory_of(table, PATH).local
        return {
            "columnar": True,
            "path": str(local) if local is not None else staging(table, context),
            "handsOver": local is None,
            "format": "parquet",
            "options": {},
            "type": java_row(stored),
            "partitions": list(table.partition_keys),
        }

    def table_log(self, table: Table, context: TranslationContext) -> Any:
        start_callbacks(context.spark)
        return JavaTableLog(DeltaLog(table, _schema(table).json()))


def _schema(table: Table) -> T.StructType:
    return T.StructType([T.StructField(name, spark_type(t)) for name, t in table.physical])

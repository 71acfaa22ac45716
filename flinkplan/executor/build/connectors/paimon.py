"""The connector ``paimon``: rows are read by Spark's Parquet, and written by ``pypaimon`` on the driver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....plan.connectors import INSERTS, source_kinds
from ....plan.connectors.paimon import PATH, is_pinned
from ....plan.nodes import TableSourceScan
from ....plan.types import LogicalType
from ...connectors.tables import Table
from ...formats.java_types import java_row
from ...jvm.callbacks import start_callbacks
from ...jvm.spark import T, fields
from ...jvm.types import spark_type
from ...lake.directories import root_of
from ...lake.log import JavaTableLog
from ...lake.paimon import PaimonLog, keeps_all_changes
from ...lake.paimon_changes import PaimonChanges, snapshot_files
from ...lake.positions import StoredFile
from ..context import TranslationContext
from ..stream import KIND, SEQUENCE, Stream
from .base import TableBuilder, table_builder
from .lake import read_files
from .requests import Request


@table_builder
class Paimon(TableBuilder):
    """Each batch is one snapshot, which appends rows or replaces those of their keys; snapshots are read."""

    name = "paimon"

    def read(self, table: Table, node: TableSourceScan, context: TranslationContext) -> Stream:
        request = Request.of(table, node.scan_table_source.abilities, {})
        at_once = context.is_batch or is_pinned(table.options)
        files: Sequence[StoredFile] | PaimonChanges = snapshot_files(table) if at_once else PaimonChanges(table)
        changes = source_kinds(table.options, bool(table.primary_key)) != INSERTS
        rows = read_files(table, files, (), _stored, request, context, changes=changes)
        hidden = [KIND, SEQUENCE] if changes else [SEQUENCE]
        return Stream(fields.select(rows, [*request.outputs(rows), *hidden]), node.output_type, changes)

    def writer(self, table: Table, context: TranslationContext) -> Mapping[str, Any]:
        types = dict(table.physical)
        names = [name for name in types if name not in table.partition_keys]
        return {
            "columnar": True,
            "path": str(root_of(table, PATH)),
            "format": "parquet",
            "options": {},
            "type": java_row([(name, types[name]) for name in (*names, *table.partition_keys)]),
            "partitions": [],
            "handsOver": True,
            "allChanges": keeps_all_changes(table),
        }

    def table_log(self, table: Table, context: TranslationContext) -> Any:
        log = PaimonLog(table)
        start_callbacks(context.spark)
        return JavaTableLog(log)


def _stored(t: LogicalType) -> T.DataType:
    return T.TimestampNTZType() if t.root == "TIMESTAMP" else spark_type(t)

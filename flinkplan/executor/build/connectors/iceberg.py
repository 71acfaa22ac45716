"""The connector ``iceberg``: data files by Spark's Parquet, the table's snapshots by PyIceberg."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....plan.nodes import TableSourceScan
from ....plan.types import LogicalType
from ...connectors.tables import Table
from ...errors import TableError
from ...formats.java_types import java_row
from ...jvm.callbacks import start_callbacks
from ...jvm.spark import T, fields, sql
from ...jvm.types import spark_type
from ...lake.iceberg import IcebergLog, snapshot, type_text
from ...lake.log import JavaTableLog
from ..context import TranslationContext
from ..stream import SEQUENCE, Stream, column_name
from ..time.event_time import read_once
from .base import TableBuilder, table_builder
from .requests import Request

_STORED = {"TINYINT": "int", "SMALLINT": "int", "TIMESTAMP": "timestamp_ntz"}
"""The types of Spark in which data files hold values of others."""


@table_builder
class Iceberg(TableBuilder):
    """Rows are appended in one snapshot a batch; a snapshot is read."""

    name = "iceberg"

    def read(self, table: Table, node: TableSourceScan, context: TranslationContext) -> Stream:
        request = Request.of(table, node.scan_table_source.abilities, {})
        read = snapshot(table)
        for name, t in table.physical:
            existing = read.columns.get(name, "none")
            if existing != type_text(t):
                message = f"the column '{name}' is declared as {t}, and the Iceberg table has {existing}"
                raise TableError(message, where=f"table {table.identifier}")
        schema = T.StructType([T.StructField(name, _stored(t)) for name, t in table.physical])
        spark = context.spark
        frame = spark.read.schema(schema).parquet(*read.files) if read.files else spark.createDataFrame([], schema)
        columns = [frame[name].cast(spark_type(t)).alias(column_name(i)) for i, (name, t) in enumerate(request.columns)]
        number = sql.Column(context.runtime.source.RowNumber.column())
        rows = read_once(frame.select(*columns, number.alias(SEQUENCE)), context)
        return Stream(fields.select(rows, [*request.outputs(rows), SEQUENCE]), node.output_type)

    def writer(self, table: Table, context: TranslationContext) -> Mapping[str, Any]:
        stored = [(n, t) for n, t in table.physical if n not in table.partition_keys]
        return {
            "columnar": True,
            "path": str(IcebergLog(table).data),
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

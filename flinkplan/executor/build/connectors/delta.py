"""The connector ``delta``: data files by Spark's Parquet, the table's log by ``deltalake``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ....plan.connectors.delta import PATH
from ....plan.files import Place
from ....plan.nodes import TableSourceScan
from ...connectors.tables import Table
from ...errors import TableError
from ...formats.java_types import java_row
from ...jvm.callbacks import start_callbacks
from ...jvm.spark import T, fields, sql
from ...jvm.types import spark_type
from ...lake.delta import DeltaLog, missing_columns, snapshot
from ...lake.log import JavaTableLog
from ..context import TranslationContext
from ..stream import SEQUENCE, Stream, column_name
from ..time.event_time import read_once
from .base import TableBuilder, table_builder
from .requests import Request

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@table_builder
class Delta(TableBuilder):
    """Rows are appended in one commit a batch; a snapshot is read."""

    name = "delta"

    def read(self, table: Table, node: TableSourceScan, context: TranslationContext) -> Stream:
        request = Request.of(table, node.scan_table_source.abilities, {})
        frame = _rows(table, context)
        columns = [frame[name].alias(column_name(i)) for i, (name, _) in enumerate(request.columns)]
        number = sql.Column(context.runtime.source.RowNumber.column())
        rows = read_once(frame.select(*columns, number.alias(SEQUENCE)), context)
        return Stream(fields.select(rows, [*request.outputs(rows), SEQUENCE]), node.output_type)

    def writer(self, table: Table, context: TranslationContext) -> Mapping[str, Any]:
        stored = [(n, t) for n, t in table.physical if n not in table.partition_keys]
        return {
            "columnar": True,
            "path": str(Place.of(table.options[PATH]).local),
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


def _rows(table: Table, context: TranslationContext) -> DataFrame:
    """The rows of the snapshot that the table's options name.

    Raises :class:`TableError` where it does not have the columns of the table.
    """
    schema, read = _schema(table), snapshot(table)
    if missing := missing_columns(read, schema.json()):
        (name, existing), *_ = missing.items()
        where = f"table {table.identifier}"
        raise TableError(
            f"the column '{name}' is declared as {schema[name].dataType.simpleString()}, "
            f"and the Delta table has {existing}",
            where=where,
        )
    if not read.files:
        return context.spark.createDataFrame([], schema)
    # the folders of partitions say what the files do not
    reader = context.spark.read.schema(schema).option("basePath", str(Place.of(table.options[PATH]).local))
    return reader.parquet(*read.files)

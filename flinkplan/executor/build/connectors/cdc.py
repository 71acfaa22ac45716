"""Reads tables of the connectors ``postgres-cdc`` and ``mysql-cdc``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ....plan.connectors import ALL, CONNECTORS, source_kinds
from ....plan.connectors.cdc import APPEND_ONLY, CHANGELOG_MODE, MYSQL_CDC, POSTGRES_CDC, reads_snapshot
from ....plan.nodes import TableSourceScan
from ....plan.options import is_true
from ...cdc.settings import CaptureError, capture_of
from ...connectors.tables import Table
from ...connectors.turns import InTurn, Turn
from ...errors import TableError
from ...formats.java_types import java_row
from ...jvm.spark import T, sql
from ...jvm.types import spark_type
from ...scratch import temporary_folder
from ..context import TranslationContext
from ..stream import KIND, SEQUENCE, Stream, column_name
from ..time.switches import switch_of
from .base import TableBuilder, table_builder
from .positions import offer_positions
from .requests import Request

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@table_builder
class PostgresCdc(TableBuilder):
    """The snapshot is read in chunks, then the log of a replication slot."""

    name = "postgres-cdc"

    def read(self, table: Table, node: TableSourceScan, context: TranslationContext) -> Stream:
        request = Request.of(table, node.scan_table_source.abilities, CONNECTORS[self.name].metadata)
        types = [*(t for _, t in request.columns), *request.metadata_types]
        fields = [T.StructField(column_name(i), spark_type(t)) for i, t in enumerate(types)]
        schema = T.StructType([*fields, T.StructField(KIND, T.ByteType(), False)])
        changes = _changes(table, node, schema, json.dumps(_spec(table, request)), context)
        number = sql.Column(context.runtime.source.RowNumber.column()).alias(SEQUENCE)
        frame = changes.select("*", number)
        is_changelog = not is_true(table.options.get(APPEND_ONLY))
        hidden = [KIND, SEQUENCE] if is_changelog else [SEQUENCE]
        return Stream(frame.select(*request.outputs(frame), *hidden), node.output_type, is_changelog)


@table_builder
class MysqlCdc(PostgresCdc):
    """The snapshot is read in chunks, then the binary log."""

    name = "mysql-cdc"


def _spec(table: Table, request: Request) -> dict[str, Any]:
    """What is made of changes, as ``ChangeSpec.java`` reads it."""
    names = [name for name, _ in table.physical]
    appends = is_true(table.options.get(APPEND_ONLY))
    has_old_rows = source_kinds(table.options, bool(table.primary_key)) == ALL or (
        appends and table.options.get(CHANGELOG_MODE, "all").lower() == "all"
    )
    return {
        "row": java_row(table.physical),
        "wanted": [names.index(name) for name, _ in request.columns],
        "metadata": list(request.metadata),
        "key": [names.index(name) for name in table.primary_key],
        "mode": "APPEND" if appends else "ALL" if has_old_rows else "UPSERT",
        "database": "" if table.options["connector"] == MYSQL_CDC.name else table.options["database-name"],
    }


def _changes(
    table: Table, node: TableSourceScan, schema: T.StructType, spec: str, context: TranslationContext
) -> DataFrame:
    """The rows of a table; raises :class:`TableError` where they cannot be read."""
    where, capture = f"table {table.identifier}", capture_of(table)
    source = context.reader.format("flinkplan.runtime.cdc.ChangeSource").schema(schema).option("spec", spec)
    folder = temporary_folder("changes-")
    try:
        from ...cdc.stream import Positions, read_once

        if context.is_batch:
            return source.option("files", json.dumps([str(path) for path in read_once(capture, folder)])).load()
        positions = Positions(
            capture, folder, context.settles, _turn(table, node, context), tells_lag=context.tells_lag
        )
        positions.open()
    except ImportError:
        database = "PostgreSQL" if table.options["connector"] == POSTGRES_CDC.name else "MySQL"
        raise TableError(
            f"there is no client of {database}", where=where, hint="pip install 'flinkplan[cdc]'"
        ) from None
    except CaptureError as e:
        raise TableError(e.message, where=where, hint=e.hint) from None
    return source.option("positions", offer_positions(positions, CaptureError, context)).load()


def _turn(table: Table, node: TableSourceScan, context: TranslationContext) -> InTurn:
    """Who is told when the snapshot has been read: the other sources of a hybrid table, and those that are joined."""
    if context.turn is Turn.LAST or not reads_snapshot(table.options):
        return InTurn(table.identifier)
    switch = context.switch if context.turn is Turn.FIRST else switch_of(node, context)
    switch.expect(table.identifier)
    return InTurn(table.identifier, context.turn, switch)

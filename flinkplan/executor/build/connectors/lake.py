"""What the connectors of lake tables share: rows of the data files that a table's log names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

import msgspec

from ....plan.errors import FlinkplanError
from ....plan.types import LogicalType
from ...connectors.tables import Table
from ...jvm.spark import F, T, sql
from ...jvm.types import spark_type
from ...lake.log import KIND as STORED_KIND
from ...lake.positions import Changes, Positions, StoredFile, files_now
from ..context import TranslationContext
from ..stream import KIND, SEQUENCE, column_name
from ..time.event_time import read_once
from .positions import offer_positions
from .requests import Request

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SOURCE = "flinkplan.runtime.lake.LakeSource"


def read_files(
    table: Table,
    files: Sequence[StoredFile] | Changes,
    partitions: Collection[str],
    stored: Callable[[LogicalType], T.DataType],
    request: Request,
    context: TranslationContext,
    *,
    changes: bool = False,
) -> DataFrame:
    """The columns of a request, by position, and the number of each row, from files that are there or still come.

    ``partitions`` are the columns that the log has for each file, ``stored`` is the type in which files hold others.
    With ``changes`` there is also the kind of each row, which those of files without such a column insert.
    """
    types = dict(request.columns)
    names = sorted(types, key=partitions.__contains__)
    kinds = [T.StructField(STORED_KIND, T.ByteType())] if changes else []
    schema = T.StructType([*kinds, *(T.StructField(name, stored(types[name])) for name in names)])
    count = sum(name in partitions for name in names)
    if context.is_batch and not isinstance(files, Sequence):
        files = files_now(files)
    if isinstance(files, Sequence):
        reader = (context.reader if context.is_batch else context.spark.read).format(_SOURCE).schema(schema)
        frame = reader.option("partitions", count).option("files", msgspec.json.encode(files).decode()).load()
    else:
        positions = Positions(table.identifier, files, context.settles, tells_lag=context.tells_lag)
        offered = offer_positions(positions, FlinkplanError, context)
        reader = context.reader.format(_SOURCE).schema(schema)
        frame = reader.option("partitions", count).option("positions", offered).load()
    columns = [
        frame[_quoted(name)].cast(spark_type(t)).alias(column_name(i)) for i, (name, t) in enumerate(request.columns)
    ]
    if changes:
        columns.append(F.coalesce(frame[STORED_KIND], F.lit(0).cast("tinyint")).alias(KIND))
    number = sql.Column(context.runtime.source.RowNumber.column())
    rows = frame.select(*columns, number.alias(SEQUENCE))
    return read_once(rows, context) if isinstance(files, Sequence) else rows


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"

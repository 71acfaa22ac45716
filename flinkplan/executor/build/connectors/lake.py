"""What the connectors of lake tables share: rows of the data files that a table's log names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from ....plan.errors import FlinkplanError
from ....plan.types import LogicalType
from ...connectors.tables import Table
from ...errors import TableError
from ...jvm.spark import F, T, sql
from ...jvm.types import spark_type
from ...lake.copies import CopiedChanges, Copies
from ...lake.log import KIND as STORED_KIND
from ...lake.positions import Changes, Positions, StoredFile, files_now
from ...scratch import temporary_folder
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
    open_file: Callable[[str], BinaryIO] | None = None,
) -> DataFrame:
    """The columns of a request, by position, and the number of each row, from files that are there or still come.

    ``partitions`` are the columns that the log has for each file, ``stored`` is the type in which files hold others.
    With ``changes`` there is also the kind of each row, which those of files without such a column insert.
    ``open_file`` opens files that are in an object store.
    """
    if open_file is not None:
        copies = Copies(open_file, lambda: check_alone(table, context), f"table {table.identifier}")
        files = copies.of(files) if isinstance(files, Sequence) else CopiedChanges(files, copies)
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


def staging(table: Table, context: TranslationContext) -> str:
    """The local folder for the rows of a table in an object store, whose library writes them there.

    Raises :class:`TableError` where executors may be on other machines.
    """
    check_alone(table, context)
    return str(temporary_folder("lake-"))


def check_alone(table: Table, context: TranslationContext) -> None:
    """Raise :class:`TableError` for a table in an object store where executors may be on other machines."""
    if not context.spark.sparkContext._jsc.sc().isLocal():
        raise TableError(
            "a lake table in an object store passes through files of the driver, which executors do not see",
            where=f"table {table.identifier}",
            hint="run the job with --master 'local[*]', or mount the store as a file system",
        )


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"

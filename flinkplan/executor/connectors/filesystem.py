"""The connector ``filesystem``: files below a directory, perhaps in partition directories ``key=value``.

Source: the options of Flink's ``FileSystemConnectorOptions``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_, or_
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...plan.connectors import CONNECTORS, Format, default_partition
from ...plan.connectors.bundled import FILE_SYSTEMS
from ...plan.errors import UnsupportedError
from ...plan.nodes import TableSourceScan
from ...plan.printable import shortened
from ...plan.types import LogicalType
from ..context import TranslationContext, Turn
from ..errors import TableError
from ..formats import find_format, format_options
from ..formats.fields import check_fields, check_map_keys
from ..formats.java_types import Paths, java_row, java_type
from ..jvm.exceptions import refused_name
from ..jvm.spark import fields
from ..jvm.types import spark_type
from ..stream import KIND, SEQUENCE, Stream, column_name
from ..tables import Table
from .base import Connector, connector
from .requests import Request

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_OFFERED = CONNECTORS["filesystem"].metadata

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")


@connector
class FileSystem(Connector):
    """Files in any of the formats."""

    name = "filesystem"
    repeats = True

    def check(self, table: Table, is_source: bool) -> None:
        where = f"table {table.identifier}"
        _check_path(table.options["path"], where)
        format_ = find_format(table.options, where)
        if format_.framed:
            raise TableError(
                f"the format '{format_.name}' is not executed here in files", where=where, hint="messages of it are"
            )
        check_fields(format_, _message_fields(table), format_options(format_, table.options), where)

    def is_bounded(self, table: Table) -> bool:
        return "source.monitor-interval" not in table.options

    def can_wait(self, table: Table) -> bool:
        return not find_format(table.options, f"table {table.identifier}").columnar

    def real_time_obstacle(self, table: Table, is_source: bool) -> str | None:
        format_ = find_format(table.options, f"table {table.identifier}")
        if format_.columnar:
            return f"files of the format '{format_.name}' are read and written as a whole"
        if is_source and self.is_bounded(table):
            return "its files are read once: 'source.monitor-interval' has them looked after"
        return None

    def size(self, table: Table) -> int | None:
        root = Path(table.options["path"].removeprefix("file://"))
        if root.is_file():
            return root.stat().st_size
        return sum(p.stat().st_size for p in root.rglob("*") if p.is_file()) if root.is_dir() else None

    def read(self, table: Table, node: TableSourceScan, context: TranslationContext) -> Stream:
        format_ = find_format(table.options, f"table {table.identifier}")
        request = Request.of(table, node.scan_table_source.abilities, _OFFERED)
        check_map_keys(format_, request.columns, f"table {table.identifier}")
        if format_.columnar:
            frame = _columnar(table, format_, request, context)
        else:
            frame = _lines(table, format_, request, request.read_by(context.whole_plan, node), context)
        hidden = [KIND, SEQUENCE] if format_.is_changelog else [SEQUENCE]
        rows = fields.select(frame, [*request.outputs(frame), *hidden])
        return Stream(rows, node.output_type, format_.is_changelog)

    def writer(self, table: Table, context: TranslationContext) -> Mapping[str, Any]:
        format_ = find_format(table.options, f"table {table.identifier}")
        check_map_keys(format_, _message_fields(table), f"table {table.identifier}")
        types = dict(table.physical)
        return {
            **({"columnar": True} if format_.columnar else {}),
            "connector": self.name,
            "path": table.options["path"],
            "format": format_.name,
            "options": format_options(format_, table.options),
            "type": java_row(_message_fields(table)),
            "partitions": list(table.partition_keys),
            "partitionTypes": [java_type(types[key]) for key in table.partition_keys],
            "defaultPartition": default_partition(table.options),
        }


def _check_path(path: str, where: str) -> None:
    """Raise :class:`TableError` for a path that is none of files, or not of this machine."""
    found = _SCHEME.match(path)
    if found is not None and found[1].lower() not in FILE_SYSTEMS:
        hint = f"it is a path of this machine, or begins with one of {', '.join(FILE_SYSTEMS)}"
        raise TableError(
            f"paths that begin with '{shortened(found[1])}:' are not executed here", where=where, hint=hint
        )
    if path.startswith(("//", "\\\\")) or re.match(r"file://(?!localhost/|/|\$)", path, re.IGNORECASE):
        raise TableError("the path is of another machine", where=where, hint="write it as file:///folder, or /folder")


def _message_fields(table: Table) -> list[tuple[str, LogicalType]]:
    """The columns that messages hold; those of the partition stand in the path."""
    return [(n, t) for n, t in table.physical if n not in table.partition_keys]


def _lines(
    table: Table, format_: Format, request: Request, read: Mapping[str, Paths], context: TranslationContext
) -> DataFrame:
    """The rows of line formats, by the Java source; ``read``: the paths in columns that somebody reads."""
    from pyspark.sql import types as spark

    types = [*(t for _, t in request.columns), *request.metadata_types]
    schema = spark.StructType([spark.StructField(column_name(i), spark_type(t)) for i, t in enumerate(types)])
    schema = schema.add(KIND, spark.ByteType(), False).add(SEQUENCE, spark.LongType(), False)
    messages = _message_fields(table)
    names = [n for n, _ in messages]
    spec = {
        "path": table.options["path"],
        "pattern": table.options.get("source.path.regex-pattern"),
        "format": format_.name,
        "options": format_options(format_, table.options),
        "type": java_row(messages, read),
        "projection": [names.index(n) for n in request.fields],
        "partitions": request.partitions,
        "partitionTypes": [java_type(t) for n, t in request.columns if n in request.partitions],
        "defaultPartition": default_partition(table.options),
        "only": None if request.only is None else [_texts(p, table) for p in request.only],
        "metadata": list(request.metadata),
        "batch": context.is_batch,
        "settles": context.settles,
        "realTime": context.is_real_time,
        "ticks": context.tells_time,
        "turn": context.turn.name,
        "timed": context.needs_event_time,
        "filesPerBatch": context.files_per_batch or 0,
    }
    reader = context.reader.format("flinkplan.runtime.file.FileSource").schema(schema)
    if context.turn is Turn.LAST:
        reader = reader.option("switch", context.switch.offer())
    return reader.option("spec", json.dumps(spec)).load()


def _texts(partition: Mapping[str, str | None], table: Table) -> dict[str, str]:
    """What the names of a partition's folders hold."""
    default = default_partition(table.options)
    return {key: default if text is None else text for key, text in partition.items()}


def _any_of(partitions: Sequence[Mapping[str, str | None]], columns: Mapping[str, Column], table: Table) -> Column:
    """Whether the texts of partition columns are those of one of the partitions."""
    from pyspark.sql import functions as F

    wanted = (_texts(partition, table) for partition in partitions)
    each = (reduce(and_, (columns[key] == text for key, text in texts.items())) for texts in wanted)
    return reduce(or_, each, F.lit(False))


def _columnar(table: Table, format_: Format, request: Request, context: TranslationContext) -> DataFrame:
    """The rows of columnar formats, by Spark's own source."""
    from pyspark.errors import AnalysisException, IllegalArgumentException
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import functions as F
    from pyspark.sql import types as spark

    if request.metadata:
        raise UnsupportedError(f"metadata of files of the format '{format_.name}'")
    keys = table.partition_keys
    read_as = [(n, spark.StringType() if n in keys else spark_type(t)) for n, t in table.physical]
    schema = spark.StructType([spark.StructField(n, t) for n, t in read_as])
    reader = context.reader.format(format_.name).schema(schema)
    try:
        if context.files_per_batch is not None:
            reader = reader.option("maxFilesPerTrigger", context.files_per_batch)
        frame = reader.options(**format_options(format_, table.options)).load(table.options["path"])
    except AnalysisException as e:
        if e.getCondition() != "PATH_NOT_FOUND":
            raise
        path = table.options["path"]
        raise TableError(f"there is no file or directory '{path}'", where=f"table {table.identifier}") from None
    except IllegalArgumentException as e:
        if (refused := refused_name(str(e))) is None:
            raise
        raise TableError(
            refused.message, where=f"table {table.identifier}: {refused.where}", hint=refused.hint
        ) from None
    names = [n for n, _ in table.physical]
    read = frame.toDF(*(f"f{names.index(n)}" for n in frame.columns))
    if request.only is not None:
        read = read.where(_any_of(request.only, {key: read[f"f{names.index(key)}"] for key in keys}, table))
    default = default_partition(table.options)

    def column(name: str, type_: LogicalType) -> Column:
        found = read[f"f{names.index(name)}"]
        if name not in keys:
            return found
        value = F.lower(found) == "true" if type_.root == "BOOLEAN" else found.cast(spark_type(type_))
        return F.when(found != default, value)

    columns = [column(n, t).alias(column_name(i)) for i, (n, t) in enumerate(request.columns)]
    kind = F.lit(0).cast("tinyint").alias(KIND)
    number = SparkColumn(context.runtime.source.RowNumber.column())
    return read.select(*columns, kind, number.alias(SEQUENCE))

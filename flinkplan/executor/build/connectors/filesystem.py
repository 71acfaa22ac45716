"""The connector ``filesystem``: files below a directory, perhaps in partition directories ``key=value``.

Source: the options of Flink's ``FileSystemConnectorOptions``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any

from ....plan.connectors import CONNECTORS, Format, default_partition, partition_commits
from ....plan.connectors.bundled import COMPACTED_SIZE, COMPACTS, FILE_SIZE
from ....plan.durations import parse_duration
from ....plan.errors import UnsupportedError
from ....plan.nodes import LookupJoin, TableSourceScan
from ....plan.options import is_true, parse_size
from ....plan.record import replace
from ....plan.types import LogicalType
from ...connectors.filesystem import message_fields
from ...connectors.tables import Table
from ...connectors.turns import Turn
from ...errors import TableError
from ...formats import find_format, format_options
from ...formats.fields import check_map_keys
from ...formats.java_types import WHOLE, Paths, java_row, java_type
from ...jvm.exceptions import refused_name
from ...jvm.spark import F, T, fields, sql
from ...jvm.types import spark_type
from ..context import TranslationContext
from ..stream import KIND, SEQUENCE, Stream, column_name
from .base import TableBuilder, table_builder
from .requests import Request

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_OFFERED = CONNECTORS["filesystem"].metadata


@table_builder
class FileSystem(TableBuilder):
    """Files in any of the formats."""

    name = "filesystem"

    def read(self, table: Table, node: TableSourceScan, context: TranslationContext) -> Stream:
        format_ = find_format(table.options, f"table {table.identifier}")
        request = Request.of(table, node.scan_table_source.abilities, _OFFERED)
        check_map_keys(format_, request.columns, f"table {table.identifier}")
        if format_.columnar:
            frame = _columnar(table, format_, request, context)
        else:
            frame = _lines(table, format_, request, request.read_by(context.query.whole, node), context)
        hidden = [KIND, SEQUENCE] if format_.is_changelog else [SEQUENCE]
        rows = fields.select(frame, [*request.outputs(frame), *hidden])
        return Stream(rows, node.output_type, format_.is_changelog)

    def lookup(self, table: Table, node: LookupJoin, context: TranslationContext) -> Any:
        """The rows that are there when the join is built; Flink looks up no files, only tests of pipelines do."""
        format_ = find_format(table.options, f"table {table.identifier}")
        request = Request.of(table, node.temporal_table.lookup_table_source.abilities, _OFFERED)
        at_once = replace(context, query=replace(context.query, is_batch=True))
        frame = _lines(table, format_, request, {name: WHOLE for name, _ in request.columns}, at_once)
        rows = fields.select(frame, request.outputs(frame))
        return context.runtime.lookup.RowsLookup.of(rows._jdf, sorted(map(int, node.lookup_keys)))

    def writer(self, table: Table, context: TranslationContext) -> Mapping[str, Any]:
        format_ = find_format(table.options, f"table {table.identifier}")
        check_map_keys(format_, message_fields(table), f"table {table.identifier}")
        types = dict(table.physical)
        return {
            **({"columnar": True} if format_.columnar else {}),
            "connector": self.name,
            "path": table.options["path"],
            "format": format_.name,
            "options": format_options(format_, table.options),
            "type": java_row(message_fields(table)),
            "partitions": list(table.partition_keys),
            "partitionTypes": [java_type(types[key]) for key in table.partition_keys],
            "defaultPartition": default_partition(table.options),
            "fileSize": _file_size(table.options),
            "compacts": is_true(table.options.get(COMPACTS)),
            "commit": _commit(table),
        }


def _file_size(options: Mapping[str, str]) -> int:
    """The bytes at which a file is finished; compaction leaves larger files as they are."""
    size = parse_size(options.get(FILE_SIZE.key, FILE_SIZE.default or ""))
    if is_true(options.get(COMPACTS)) and COMPACTED_SIZE in options:
        return max(size, parse_size(options[COMPACTED_SIZE]))
    return size


def _commit(table: Table) -> dict[str, Any] | None:
    """How partitions are committed, as ``PartitionCommits.java`` reads it; ``None``: they are not."""
    options = table.options
    if not table.partition_keys or not partition_commits.policies(options):
        return None
    return {
        "successFile": partition_commits.option(options, partition_commits.SUCCESS_FILE),
        "delay": parse_duration(partition_commits.option(options, partition_commits.DELAY)),
        "byWatermark": partition_commits.commits_by_watermark(options, table.partition_keys),
        "zone": partition_commits.option(options, partition_commits.ZONE),
        "pattern": options.get(partition_commits.PATTERN),
        "formatter": options.get(partition_commits.FORMATTER),
    }


def _lines(
    table: Table, format_: Format, request: Request, read: Mapping[str, Paths], context: TranslationContext
) -> DataFrame:
    """The rows of line formats, by the Java source; ``read``: the paths in columns that somebody reads."""

    types = [*(t for _, t in request.columns), *request.metadata_types]
    schema = T.StructType([T.StructField(column_name(i), spark_type(t)) for i, t in enumerate(types)])
    schema = schema.add(KIND, T.ByteType(), False).add(SEQUENCE, T.LongType(), False)
    messages = message_fields(table)
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

    wanted = (_texts(partition, table) for partition in partitions)
    each = (reduce(and_, (columns[key] == text for key, text in texts.items())) for texts in wanted)
    return reduce(or_, each, F.lit(False))


def _columnar(table: Table, format_: Format, request: Request, context: TranslationContext) -> DataFrame:
    """The rows of columnar formats, by Spark's own source."""
    from pyspark.errors import AnalysisException, IllegalArgumentException

    if request.metadata:
        raise UnsupportedError(f"metadata of files of the format '{format_.name}'")
    keys = table.partition_keys
    read_as = [(n, T.StringType() if n in keys else spark_type(t)) for n, t in table.physical]
    schema = T.StructType([T.StructField(n, t) for n, t in read_as])
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
        read_value = read[f"f{names.index(name)}"]
        if name not in keys:
            return read_value
        value = F.lower(read_value) == "true" if type_.root == "BOOLEAN" else read_value.cast(spark_type(type_))
        return F.when(read_value != default, value)

    columns = [column(n, t).alias(column_name(i)) for i, (n, t) in enumerate(request.columns)]
    kind = F.lit(0).cast("tinyint").alias(KIND)
    number = sql.Column(context.runtime.source.RowNumber.column())
    return read.select(*columns, kind, number.alias(SEQUENCE))

"""The connector ``filesystem``: files below a directory, perhaps in partition directories ``key=value``.

Source: the options of Flink's ``FileSystemConnectorOptions``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...plan.connectors import CONNECTORS, Format
from ...plan.errors import UnsupportedError
from ...plan.nodes import TableSourceScan
from ...plan.readable import readable
from ...plan.specs import PartitionPushDown, ProjectPushDown, ReadingMetadata
from ...plan.types import LogicalType
from ..context import Mode, TranslationContext
from ..errors import TableError
from ..formats import find_format, format_options
from ..formats.java_types import java_row, java_type
from ..stream import KIND, SEQUENCE, Stream, column_name
from ..tables import Table
from ..types import field_name, spark_type
from .base import Connector, connector

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_OFFERED = CONNECTORS["filesystem"].metadata

_DEFAULT_PARTITION = "__DEFAULT_PARTITION__"


@connector
class FileSystem(Connector):
    """Files in any of the formats."""

    name = "filesystem"

    def check(self, table: Table, is_source: bool) -> None:
        where = f"table {table.identifier}"
        format_ = find_format(table.options, where)
        if format_.name == "raw" and len(_message_fields(table)) != 1:
            raise TableError("a table of the format 'raw' has exactly one column", where=where)
        if format_.name == "csv":
            _check_csv(table, where)

    def is_bounded(self, table: Table) -> bool:
        return "source.monitor-interval" not in table.options

    def size(self, table: Table) -> int | None:
        root = Path(table.options["path"].removeprefix("file://"))
        if root.is_file():
            return root.stat().st_size
        return sum(p.stat().st_size for p in root.rglob("*") if p.is_file()) if root.is_dir() else None

    def read(self, table: Table, node: TableSourceScan, context: TranslationContext) -> Stream:
        format_ = find_format(table.options, f"table {table.identifier}")
        request = _Request.of(table, node)
        _check_keys(format_, request.columns, table)
        frame = (_columnar if format_.columnar else _lines)(table, format_, request, context)
        stream = Stream(frame.select(*request.outputs(frame), KIND, SEQUENCE), node.output_type, format_.is_changelog)
        return stream if format_.is_changelog else Stream(stream.frame.drop(KIND), node.output_type)

    def writer(self, table: Table, context: TranslationContext) -> Mapping[str, Any]:
        format_ = find_format(table.options, f"table {table.identifier}")
        _check_keys(format_, _message_fields(table), table)
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
            "defaultPartition": table.option("partition.default-name", _DEFAULT_PARTITION),
        }


def _message_fields(table: Table) -> list[tuple[str, LogicalType]]:
    """The columns that messages hold; those of the partition stand in the path."""
    return [(n, t) for n, t in table.physical if n not in table.partition_keys]


def _check_csv(table: Table, where: str) -> None:
    """Raise :class:`TableError` for columns that are too deep for one line.  Source: ``CsvRowSchemaConverter``."""
    for name, t in _message_fields(table):
        inner = t.field_types if t.root == "ROW" else (t.element,) if t.root == "ARRAY" else ()
        if t.root in ("MAP", "MULTISET") or any(i.root in ("ARRAY", "MAP", "MULTISET", "ROW") for i in inner):
            raise TableError(
                readable(f"the csv format has no columns of the type {t}, as '{name}' is"),
                where=where,
                hint="it takes arrays and rows of simple values; json takes all types",
            )


def _check_keys(format_: Format, fields: Sequence[tuple[str, LogicalType]], table: Table) -> None:
    """Raise :class:`TableError` for maps that no JSON object can be.  Source: ``RowDataToJsonConverters``."""
    for name, t in fields if format_.name.endswith("json") else ():
        for key in _map_keys(t):
            if key.root not in ("CHAR", "VARCHAR"):
                raise TableError(
                    readable(f"the keys of JSON objects are texts, but '{name}' is {t}"),
                    where=f"table {table.identifier}",
                    hint="let the keys be STRING",
                )


def _map_keys(t: LogicalType) -> Iterator[LogicalType]:
    """The types of the keys of all maps and multisets within a type."""
    if t.root in ("MAP", "MULTISET"):
        yield t.children[0]
    for inner in (*t.children, *t.field_types):
        yield from _map_keys(inner)


class _Request:
    """What a scan wants of its table: paths into physical columns, then metadata columns."""

    def __init__(
        self,
        table: Table,
        paths: Sequence[tuple[int, ...]],
        metadata: Sequence[str],
        partitions: Sequence[Mapping[str, str]] | None,
    ) -> None:
        self.paths = paths
        self.metadata = metadata
        self.only = partitions
        names = [n for n, _ in table.physical]
        wanted = dict.fromkeys(names[path[0]] for path in paths)
        self.fields = [n for n in wanted if n not in table.partition_keys]
        self.partitions = [n for n in wanted if n in table.partition_keys]
        types = dict(table.physical)
        self.columns = [(n, types[n]) for n in (*self.fields, *self.partitions)]
        self.positions = {names.index(n): i for i, (n, _) in enumerate(self.columns)}

    @classmethod
    def of(cls, table: Table, node: TableSourceScan) -> _Request:
        paths: Sequence[tuple[int, ...]] = [(i,) for i in range(len(table.physical))]
        metadata: Sequence[str] = ()
        partitions = None
        for ability in node.scan_table_source.abilities or ():
            match ability:
                case ProjectPushDown(projected_fields=projected):
                    paths = projected
                case ReadingMetadata(metadata_keys=keys):
                    metadata = keys
                case PartitionPushDown(partitions=only):
                    partitions = only
        for key in metadata:
            if key not in _OFFERED:
                raise TableError(f"there is no metadata '{key}' in files", hint=f"one of {', '.join(_OFFERED)}")
        return cls(table, paths, metadata, partitions)

    def outputs(self, frame: DataFrame) -> list[Column]:
        """The scan's columns, named by position."""
        columns = []
        for path in self.paths:
            column = frame[column_name(self.positions[path[0]])]
            for index in path[1:]:
                column = column.getField(field_name(index))
            columns.append(column)
        columns += [frame[column_name(len(self.columns) + i)] for i in range(len(self.metadata))]
        return [c.alias(column_name(i)) for i, c in enumerate(columns)]

    @property
    def metadata_types(self) -> list[LogicalType]:
        return [_OFFERED[key].nullable_() for key in self.metadata]


def _lines(table: Table, format_: Format, request: _Request, context: TranslationContext) -> DataFrame:
    """The rows of line formats, by the Java source."""
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
        "type": java_row(messages),
        "projection": [names.index(n) for n in request.fields],
        "partitions": request.partitions,
        "partitionTypes": [java_type(t) for n, t in request.columns if n in request.partitions],
        "defaultPartition": table.option("partition.default-name", _DEFAULT_PARTITION),
        "only": None if request.only is None else [dict(p) for p in request.only],
        "metadata": list(request.metadata),
        "settles": context.needs_event_time and context.mode is not Mode.BOUNDED,
    }
    reader = context.reader.format("flinkplan.runtime.source.FileSource").schema(schema)
    return reader.option("spec", json.dumps(spec)).load()


def _columnar(table: Table, format_: Format, request: _Request, context: TranslationContext) -> DataFrame:
    """The rows of columnar formats, by Spark's own source."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import functions as F
    from pyspark.sql import types as spark

    if request.metadata or request.only is not None:
        raise UnsupportedError(f"metadata and pruned partitions of the format '{format_.name}'")
    schema = spark.StructType([spark.StructField(n, spark_type(t)) for n, t in table.physical])
    reader = context.reader.format(format_.name).schema(schema)
    try:
        frame = reader.options(**format_options(format_, table.options)).load(table.options["path"])
    except AnalysisException as e:
        if e.getCondition() != "PATH_NOT_FOUND":
            raise
        path = table.options["path"]
        raise TableError(f"there is no file or directory '{path}'", where=f"table {table.identifier}") from None
    names = [n for n, _ in table.physical]
    read = frame.toDF(*(f"f{names.index(n)}" for n in frame.columns))
    columns = [read[f"f{names.index(n)}"].alias(column_name(i)) for i, (n, _) in enumerate(request.columns)]
    kind = F.lit(0).cast("tinyint").alias(KIND)
    number = SparkColumn(context.runtime.source.RowNumber.column())
    return read.select(*columns, kind, number.alias(SEQUENCE))

"""The connectors ``kafka`` and ``upsert-kafka``: topics of Kafka.

Sources: Flink's ``KafkaDynamicSource``, ``KafkaDynamicSink`` and their serialization schemas.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ...plan.connectors import CONNECTORS, FORMAT, KEY_FORMAT, VALUE_FORMAT, Format
from ...plan.connectors import kafka as declared
from ...plan.nodes import Sink, TableSourceScan
from ...plan.specs import WritingMetadata
from ...plan.types import LogicalType
from ..context import TranslationContext, Turn
from ..errors import TableError
from ..formats import find_format, format_options
from ..formats.fields import check_fields, check_map_keys
from ..formats.java_types import java_row
from ..jvm.types import spark_type
from ..kafka.positions import Broker, KafkaError, ranges, tasks
from ..kafka.settings import producer_of, reading_of, writer_settings
from ..kafka.sink import RESULT, Writing, writer
from ..kernels import java_type
from ..pushed_watermarks import pushed_watermark
from ..source_watermarks import divide
from ..stream import DELETE, HIDDEN, INSERT, KIND, PART, SEQUENCE, UPDATE_BEFORE, Stream, column_name
from ..tables import Table
from .base import Connector, connector
from .requests import Request

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from ..kafka.stream import JavaPositions

Fields = list[tuple[str, LogicalType]]

_PLACE = ("topic", "partition", "offset")
"""What is read of every message, to say which one cannot be decoded."""

_TIMESTAMP_TYPES = ("NoTimestampType", "CreateTime", "LogAppendTime")
"""As Java's client calls them, in the order of librdkafka's numbers."""


class _Part:
    """The key or the value of a table's messages: its format and its columns.

    ``names`` are those of the columns in the table, ``fields`` what messages call them.
    """

    def __init__(self, table: Table, named_by: str, names: Sequence[str], prefix: str = "") -> None:
        self.where = f"table {table.identifier}"
        self.format: Format = find_format(table.options, self.where, named_by)
        self.names = list(names)
        types = dict(table.physical)
        self.fields: Fields = [(name.removeprefix(prefix), types[name]) for name in names]
        self._options = format_options(self.format, table.options, named_by)

    def check(self) -> None:
        """Raise :class:`TableError` for columns that the format has no messages for."""
        if self.format.columnar:
            raise TableError(f"messages are not written in the format '{self.format.name}'", where=self.where)
        check_fields(self.format, self.fields, self._options, self.where)
        check_map_keys(self.format, self.fields, self.where)

    def spec(self, wanted: Sequence[str] | None = None) -> dict[str, Any]:
        """The part as Java's ``MessageFormat`` reads it; ``wanted``: the columns that rows have, in order."""
        spec = {"format": self.format.name, "options": self._options, "type": java_row(self.fields)}
        if wanted is None:
            return spec
        found = [name for name in self.names if name in wanted]
        return {
            **spec,
            "projection": [self.names.index(name) for name in found],
            "at": [list(wanted).index(name) for name in found],
        }


def _parts(table: Table) -> tuple[_Part | None, _Part]:
    """The key, if messages have one, and the value."""
    options = table.options
    keys = declared.key_fields(options, table.resolved.schema) if KEY_FORMAT in options else ()
    key = _Part(table, KEY_FORMAT, keys, options.get("key.fields-prefix", "")) if keys else None
    apart = keys if options.get("value.fields-include", "ALL") == "EXCEPT_KEY" else ()
    values = [name for name, _ in table.physical if name not in apart]
    return key, _Part(table, VALUE_FORMAT if VALUE_FORMAT in options else FORMAT, values)


@connector
class Kafka(Connector):
    """Messages with keys and values in any of the line formats."""

    name = "kafka"
    upserts = False

    def check(self, table: Table, is_source: bool) -> None:
        where = f"table {table.identifier}"
        for part in filter(None, _parts(table)):
            part.check()
        for option in (
            "record.key.include.kafka.connect.json.schema",
            "record.value.include.kafka.connect.json.schema",
        ):
            if table.options.get(option) == "true":
                raise TableError(f"'{option}' is not executed here", where=where)
        if not is_source:
            _check_sink(table, where)

    def is_bounded(self, table: Table) -> bool:
        return declared.is_bounded(table.options)

    def can_wait(self, table: Table) -> bool:
        return True

    def may_last(self, table: Table) -> bool:
        """Offsets that are given may be of messages that are still to come."""
        return table.options.get("scan.bounded.mode") == "specific-offsets"

    def read(self, table: Table, node: TableSourceScan, context: TranslationContext) -> Stream:
        from pyspark.sql import Column as SparkColumn
        from pyspark.sql import functions as F

        request = Request.of(table, node.scan_table_source.abilities, CONNECTORS[self.name].metadata)
        key, value = _parts(table)
        messages, partitions = _messages(table, _wanted(key, request), context)
        rows = self._decoded(messages, key, value, request, context)
        metadata = [_metadata(messages, name) for name in request.metadata]
        parts = []
        if pushed_watermark(node) is not None and not context.is_batch and len(partitions) > 1:
            divide(node, partitions, context)
            parts = [F.concat_ws("-", "topic", "partition").alias(PART)]
        frame = messages.select(*(c.alias(f"m{i}") for i, c in enumerate(metadata)), *parts, F.inline(rows))
        number = SparkColumn(context.runtime.source.RowNumber.column()).alias(SEQUENCE)
        columns = [column_name(i) for i in range(len(request.columns))]
        found = [frame[f"m{i}"].alias(column_name(len(columns) + i)) for i in range(len(metadata))]
        frame = frame.select(*columns, *found, frame[KIND], number, *([PART] if parts else []))
        is_changelog = self.upserts or value.format.is_changelog
        hidden = [name for name in frame.columns if name in HIDDEN and (name != KIND or is_changelog)]
        return Stream(frame.select(*request.outputs(frame), *hidden), node.output_type, is_changelog)

    def _decoded(
        self, messages: DataFrame, key: _Part | None, value: _Part, request: Request, context: TranslationContext
    ) -> Column:
        """The column of the rows of each message."""
        from pyspark.sql import Column as SparkColumn
        from pyspark.sql import functions as F
        from pyspark.sql import types as spark

        names = [name for name, _ in request.columns]
        spec = {"value": value.spec(names), "key": key and key.spec(names), "upserts": self.upserts}
        fields = [spark.StructField(column_name(i), spark_type(t)) for i, (_, t) in enumerate(request.columns)]
        row = spark.StructType([*fields, spark.StructField(KIND, spark.ByteType(), False)])
        key_column = messages["key"] if key else F.lit(None).cast("binary")
        arguments = [key_column, messages["value"], *(messages[name] for name in _PLACE)]
        decoder = context.runtime.message.MessageDecoder
        return SparkColumn(decoder.column(json.dumps(spec), context.java_schema(row), [c._jc for c in arguments]))

    def python_writer(
        self, table: Table, node: Sink, rows: Stream, keys: Sequence[int], context: TranslationContext
    ) -> Any:
        settings = writer_settings(table)
        _reach(lambda: producer_of(settings), f"table {table.identifier}")
        messages = _messages_of(table, _written_metadata(node), rows, self.upserts, context)
        writing = Writing(table.options["topic"], settings, table.options.get("sink.partitioner") == "fixed")
        send = _in_workers(writer(writing), RESULT, list(messages))
        columns = [column.alias(name)._jc for name, column in messages.items()]
        return context.runtime.sink.MessageWriter(columns, send._jc, rows.changelog, list(keys))


@connector
class UpsertKafka(Kafka):
    """The same where a key's last message is its row, and one without a value deletes it."""

    name = "upsert-kafka"
    upserts = True


def _check_sink(table: Table, where: str) -> None:
    options = table.options
    if options.get("sink.delivery-guarantee") == "exactly-once":
        raise TableError(
            "'sink.delivery-guarantee' = 'exactly-once' is not executed here",
            where=where,
            hint="at-least-once loses nothing; read by key, as 'upsert-kafka' does, nothing is doubled either",
        )
    if len(declared.parse_names(options.get("topic", ""))) != 1:
        raise TableError("messages are written to a single topic here", where=where, hint="name one: 'topic' = '…'")
    if (name := options.get("sink.partitioner", "default")) not in ("default", "fixed", "round-robin"):
        hint = "it is default, fixed or round-robin; classes are Flink's alone"
        raise TableError(f"the partitioner '{name}' is not executed here", where=where, hint=hint)


def _messages(table: Table, wanted: Sequence[str], context: TranslationContext) -> tuple[DataFrame, list[str]]:
    """The messages of a table's topics, and the names of the partitions that there are.

    Raises :class:`TableError` where they, or brokers, are not there.
    """
    from ..kafka.source import reader, schema_of
    from ..kafka.stream import InTurn, JavaPositions, Positions

    where = f"table {table.identifier}"
    reading = reading_of(table)
    broker = Broker(reading)
    _reach(broker.open, where)
    source = context.reader.format("flinkplan.runtime.source.RangeSource")
    shared = not context.needs_event_time
    try:
        if context.is_batch:
            ends = broker.ends()
            found = ranges(broker.starts(), broker.latest(broker.partitions()) if ends is None else ends)
            source = source.option("tasks", msgspec.json.encode(tasks(found, shared=shared)).decode())
        else:
            if context.turn is Turn.FIRST:
                context.switch.expect(table.identifier)
            place = InTurn(table.identifier, context.turn, context.switch)
            where_it_is = Positions(reading, context.settles, place, shared=shared, tells_lag=context.tells_lag)
            positions = _offered(JavaPositions(where_it_is), context)
            source = source.option("positions", positions)
        partitions = [f"{topic}-{number}" for topic, number in broker.partitions()]
    except KafkaError as e:
        raise TableError(str(e), where=where) from None
    finally:
        broker.close()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of Spark's, about pandas, of which nothing is used here
        return source.load().mapInArrow(reader(tuple(wanted), reading.client), schema_of(wanted)), partitions


def _in_workers(work: Callable[..., Any], result: Any, columns: Sequence[str]) -> Column:
    """What Spark's Python workers make of the batches of a frame with these columns."""
    from pyspark.sql.pandas.functions import pandas_udf
    from pyspark.util import PythonEvalType

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of Spark's, about pandas, of which nothing is used here
        made: Callable[..., Callable[..., Column]] = pandas_udf
        return made(work, result, PythonEvalType.SQL_MAP_ARROW_ITER_UDF)(*columns)


def _offered(positions: JavaPositions, context: TranslationContext) -> str:
    """The name by which Java finds what it then asks for positions."""
    from pyspark.java_gateway import ensure_callback_server_started

    ensure_callback_server_started(context.spark.sparkContext._gateway)  # type: ignore[no-untyped-call]
    return str(context.runtime.source.RangeSource.offer(positions))


def _reach(open_: Callable[[], Any], where: str) -> None:
    """Open a client.  Raises :class:`TableError` where there is none, or it does not take the settings."""
    try:
        open_()
    except ImportError:
        raise TableError("there is no client of Kafka", where=where, hint="pip install 'flinkplan[kafka]'") from None
    except Exception as e:
        told = e.args[0]
        raise TableError(
            f"the client of Kafka says: {told.str() if hasattr(told, 'str') else told}", where=where
        ) from None


def _wanted(key: _Part | None, request: Request) -> list[str]:
    """The columns of messages that a scan needs."""
    return list(dict.fromkeys([*_PLACE, *(["key"] if key else []), "value", *request.metadata]))


def _metadata(messages: DataFrame, name: str) -> Column:
    """A metadata column in its type."""
    from pyspark.sql import functions as F

    column = messages[name]
    if name == "timestamp":
        return F.timestamp_millis(column)
    if name == "timestamp-type":
        return F.element_at(F.array(*map(F.lit, _TIMESTAMP_TYPES)), column + 1)
    return column


def _written_metadata(node: Sink) -> tuple[str, ...]:
    """The metadata that a sink writes, whose columns stand behind the physical ones."""
    abilities = node.dynamic_table_sink.abilities or ()
    return next((a.metadata_keys for a in abilities if isinstance(a, WritingMetadata)), ())


def _messages_of(
    table: Table, metadata: Sequence[str], rows: Stream, upserts: bool, context: TranslationContext
) -> dict[str, Column]:
    """What is written of rows: the columns of messages by name."""
    from pyspark.sql import functions as F

    key, value = _parts(table)
    names = [name for name, _ in table.physical]
    insert = F.lit(INSERT).cast("tinyint")
    kind = F.col(KIND) if rows.changelog else insert
    written = _encoded(value, names, rows, insert if upserts else kind, context)
    if upserts and rows.changelog:
        written = F.when(~kind.isin(UPDATE_BEFORE, DELETE), written)
    keyed = _encoded(key, names, rows, insert, context) if key else F.lit(None).cast("binary")
    found = {"key": keyed, "value": written}
    for i, name in enumerate(metadata):
        column = F.col(column_name(len(names) + i))
        found[name] = F.unix_millis(column) if name == "timestamp" else column
    return found


def _encoded(part: _Part, names: Sequence[str], rows: Stream, kind: Column, context: TranslationContext) -> Column:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import functions as F

    row = F.struct(*(F.col(column_name(names.index(name))).alias(f"f{i}") for i, name in enumerate(part.names)))
    schema = java_type(context, rows.frame.select(row.alias("row")).schema["row"].dataType)
    encoder = context.runtime.message.MessageEncoder
    return SparkColumn(encoder.column(json.dumps(part.spec()), schema, row._jc, kind._jc))

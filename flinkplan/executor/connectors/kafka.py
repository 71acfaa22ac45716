"""The connectors ``kafka`` and ``upsert-kafka``: topics of Kafka.

Sources: Flink's ``KafkaDynamicSource``, ``KafkaDynamicSink`` and their serialization schemas.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ...plan.connectors import CONNECTORS, FORMAT, KEY_FORMAT, VALUE_FORMAT, Format
from ...plan.connectors import kafka as declared
from ...plan.nodes import Sink, TableSourceScan
from ...plan.specs import WritingMetadata
from ...plan.types import LogicalType
from ..context import Mode, TranslationContext, Turn
from ..errors import TableError
from ..formats import find_format, format_options
from ..formats.fields import check_fields, check_map_keys
from ..formats.java_types import java_row
from ..kafka.positions import Broker, KafkaError, ranges
from ..kafka.settings import consumer_of, producer_of, reading_of, writer_settings
from ..kafka.sink import RESULT, Writing, writer
from ..kernels import java_type
from ..pushed_watermarks import pushed_watermark
from ..stream import DELETE, INSERT, KIND, SEQUENCE, UPDATE_BEFORE, Stream, column_name
from ..tables import Table
from ..types import spark_type
from .base import Connector, connector
from .requests import Request
from .writing import BatchWriter

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
        messages = _messages(table, node, _wanted(key, request), context)
        rows = self._decoded(messages, key, value, request, context)
        metadata = [_metadata(messages, name) for name in request.metadata]
        frame = messages.select(*(c.alias(f"m{i}") for i, c in enumerate(metadata)), F.inline(rows))
        number = SparkColumn(context.runtime.source.RowNumber.column()).alias(SEQUENCE)
        columns = [column_name(i) for i in range(len(request.columns))]
        found = [frame[f"m{i}"].alias(column_name(len(columns) + i)) for i in range(len(metadata))]
        frame = frame.select(*columns, *found, frame[KIND], number)
        is_changelog = self.upserts or value.format.is_changelog
        hidden = [frame[KIND], frame[SEQUENCE]] if is_changelog else [frame[SEQUENCE]]
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
        self, table: Table, node: Sink, changelog: bool, keys: Sequence[int], context: TranslationContext
    ) -> BatchWriter:
        settings = writer_settings(table)
        _reach(producer_of, settings, f"table {table.identifier}")
        return _Messages(table, _written_metadata(node), changelog, keys, self.upserts, settings, context)


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


def _messages(table: Table, node: TableSourceScan, wanted: Sequence[str], context: TranslationContext) -> DataFrame:
    """The messages of a table's topics.  Raises :class:`TableError` where they, or brokers, are not there."""
    from ..kafka.source import reader, schema_of
    from ..kafka.stream import InTurn, JavaPositions, Positions

    where = f"table {table.identifier}"
    reading = reading_of(table)
    _reach(consumer_of, reading.client, where)
    source = context.reader.format("flinkplan.runtime.source.RangeSource")
    broker = Broker(reading)
    try:
        if context.is_batch:
            ends = broker.ends()
            found = ranges(broker.starts(), broker.latest(broker.partitions()) if ends is None else ends)
            source = source.option("ranges", msgspec.json.encode(found).decode())
        else:
            _check_watermarks(node, len(broker.partitions()), where)
            settles = context.needs_event_time and context.mode is not Mode.BOUNDED
            if context.turn is Turn.FIRST:
                context.switch.expect(table.identifier)
            place = InTurn(table.identifier, context.turn, context.switch)
            positions = _offered(JavaPositions(Positions(reading, settles, place)), context)
            source = source.option("positions", positions)
    except KafkaError as e:
        raise TableError(str(e), where=where) from None
    finally:
        broker.close()
    return _in_arrow(source.load(), reader(tuple(wanted), reading.client), schema_of(wanted))


def _in_arrow(frame: DataFrame, work: Callable[..., Any], result: Any) -> DataFrame:
    """What Spark's Python workers make of a frame's batches."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of Spark's, about pandas, of which nothing is used here
        return frame.mapInArrow(work, result)


def _offered(positions: JavaPositions, context: TranslationContext) -> str:
    """The name by which Java finds what it then asks for positions."""
    from pyspark.java_gateway import ensure_callback_server_started

    ensure_callback_server_started(context.spark.sparkContext._gateway)  # type: ignore[no-untyped-call]
    return str(context.runtime.source.RangeSource.offer(positions))


def _check_watermarks(node: TableSourceScan, partitions: int, where: str) -> None:
    if pushed_watermark(node) is not None and partitions > 1:
        raise TableError(
            f"the plan leaves the watermarks to the source, whose {partitions} partitions have each their own",
            where=where,
            hint="that is not executed here in a stream: read a topic with one partition, or compile the plan here",
        )


def _reach(client_of: Callable[..., Any], settings: Mapping[str, Any], where: str) -> None:
    """Raise :class:`TableError` where there is no client, or it does not take the settings."""
    try:
        client_of(settings)
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


class _Messages(BatchWriter):
    """Writes rows as messages."""

    def __init__(
        self,
        table: Table,
        metadata: Sequence[str],
        changelog: bool,
        keys: Sequence[int],
        upserts: bool,
        settings: Mapping[str, Any],
        context: TranslationContext,
    ) -> None:
        super().__init__(context)
        self._key, self._value = _parts(table)
        self._names = [name for name, _ in table.physical]
        self._metadata = metadata
        self._changelog = changelog
        self._keys = list(keys)
        self._upserts = upserts
        self._context = context
        is_fixed = table.options.get("sink.partitioner") == "fixed"
        self._writing = Writing(table.options["topic"], settings, is_fixed)

    def messages(self, frame: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        if self._changelog:
            frame = self._context.frame(self._context.runtime.sink.Changes.inOrder(frame._jdf, self._keys))
        kind = frame[KIND] if self._changelog else F.lit(INSERT).cast("tinyint")
        value = self._encoded(self._value, frame, F.lit(INSERT).cast("tinyint") if self._upserts else kind)
        if self._upserts and self._changelog:
            value = F.when(~kind.isin(UPDATE_BEFORE, DELETE), value)
        key = (
            self._encoded(self._key, frame, F.lit(INSERT).cast("tinyint")) if self._key else F.lit(None).cast("binary")
        )
        columns = [key.alias("key"), value.alias("value"), *self._metadata_columns(frame)]
        return _in_arrow(frame.select(*columns), writer(self._writing), RESULT)

    def _encoded(self, part: _Part, frame: DataFrame, kind: Column) -> Column:
        from pyspark.sql import Column as SparkColumn
        from pyspark.sql import functions as F

        row = F.struct(*(frame[column_name(self._names.index(n))].alias(f"f{i}") for i, n in enumerate(part.names)))
        row_type = frame.select(row.alias("row")).schema["row"].dataType
        schema = java_type(self._context, row_type)
        encoder = self._context.runtime.message.MessageEncoder
        return SparkColumn(encoder.column(json.dumps(part.spec()), schema, row._jc, kind._jc))

    def _metadata_columns(self, frame: DataFrame) -> list[Column]:
        from pyspark.sql import functions as F

        found = []
        for i, key in enumerate(self._metadata):
            column = frame[column_name(len(self._names) + i)]
            found.append((F.unix_millis(column) if key == "timestamp" else column).alias(key))
        return found

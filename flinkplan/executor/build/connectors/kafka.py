"""The connectors ``kafka`` and ``upsert-kafka``: topics of Kafka.

Sources: Flink's ``KafkaDynamicSource``, ``KafkaDynamicSink`` and their serialization schemas.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ....plan.connectors import CONNECTORS
from ....plan.nodes import Sink, TableSourceScan
from ....plan.specs import WritingMetadata
from ...connectors import find_connector
from ...connectors.kafka import MessagePart, message_parts
from ...connectors.tables import Table
from ...connectors.turns import InTurn, Turn
from ...errors import TableError
from ...formats.java_types import java_row
from ...jvm.spark import F, T, sql
from ...jvm.types import spark_type
from ...kafka.positions import Broker, KafkaError, ranges, tasks
from ...kafka.settings import Reading, producer_of, reading_of, writer_settings
from ...kafka.sink import RESULT, Writing, writer
from ...prepare.known.pushed_watermarks import pushed_watermark
from ..context import TranslationContext
from ..kernels import java_type
from ..stream import DELETE, HIDDEN, INSERT, KIND, PART, SEQUENCE, UPDATE_BEFORE, Stream, column_name
from ..time.event_time import CLOCK
from ..time.source_watermarks import divide
from .base import TableBuilder, table_builder
from .positions import offer_positions
from .requests import Request

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


_PLACE = ("topic", "partition", "offset")
"""What is read of every message, to say which one cannot be decoded."""

_TICK = "__tick_number"
"""The number of a message that is none, while messages become rows."""

_AT_ONCE = {"linger.ms": 1}
"""How long clients gather messages that are to go out as they come, in milliseconds; the table may say otherwise."""

_TIMESTAMP_TYPES = ("NoTimestampType", "CreateTime", "LogAppendTime")
"""As Java's client calls them, in the order of librdkafka's numbers."""


@table_builder
class Kafka(TableBuilder):
    """Messages with keys and values in any of the line formats."""

    name = "kafka"

    def read(self, table: Table, node: TableSourceScan, context: TranslationContext) -> Stream:

        request = Request.of(table, node.scan_table_source.abilities, CONNECTORS[self.name].metadata)
        key, value = message_parts(table)
        messages, partitions = _messages(table, _wanted(key, request), context)
        upserts = find_connector(table).upserts
        rows = self._decoded(messages, key, value, request, upserts, context)
        metadata = [_metadata(messages, name) for name in request.metadata]
        parts = []
        if pushed_watermark(node) is not None and not context.is_batch and len(partitions) > 1:
            divide(node, partitions, context)
            parts = [F.concat_ws("-", "topic", "partition").alias(PART)]
        carried = [c.alias(f"m{i}") for i, c in enumerate(metadata)]
        number = sql.Column(context.runtime.source.RowNumber.column())
        if context.tells_time:  # what tells that time goes on is a row without values
            carried.append(F.when(messages["offset"] == CLOCK, F.lit(CLOCK).cast("bigint")).alias(_TICK))
            nothing = F.array(F.lit(None).cast(self._row_type(request)))
            rows = F.when(messages["offset"] == CLOCK, nothing).otherwise(rows)
            number = F.coalesce(_TICK, number)
        frame = messages.select(*carried, *parts, F.inline(rows))
        columns = [column_name(i) for i in range(len(request.columns))]
        read = [frame[f"m{i}"].alias(column_name(len(columns) + i)) for i in range(len(metadata))]
        kind = F.coalesce(frame[KIND], F.lit(INSERT).cast("tinyint")) if context.tells_time else frame[KIND]
        hidden_columns = [kind.alias(KIND), number.alias(SEQUENCE), *([PART] if parts else [])]
        frame = frame.select(*columns, *read, *hidden_columns)
        is_changelog = upserts or value.format.is_changelog
        hidden = [name for name in frame.columns if name in HIDDEN and (name != KIND or is_changelog)]
        return Stream(frame.select(*request.outputs(frame), *hidden), node.output_type, is_changelog)

    def _row_type(self, request: Request) -> T.StructType:
        fields = [T.StructField(column_name(i), spark_type(t)) for i, (_, t) in enumerate(request.columns)]
        return T.StructType([*fields, T.StructField(KIND, T.ByteType(), False)])

    def _decoded(
        self,
        messages: DataFrame,
        key: MessagePart | None,
        value: MessagePart,
        request: Request,
        upserts: bool,
        context: TranslationContext,
    ) -> Column:
        """The column of the rows of each message."""

        names = [name for name, _ in request.columns]
        spec = {"value": value.spec(names), "key": key and key.spec(names), "upserts": upserts}
        row = self._row_type(request)
        key_column = messages["key"] if key else F.lit(None).cast("binary")
        arguments = [key_column, messages["value"], *(messages[name] for name in _PLACE)]
        decoder = context.runtime.message.MessageDecoder
        return sql.Column(decoder.column(json.dumps(spec), context.java_schema(row), [c._jc for c in arguments]))

    def writer(self, table: Table, context: TranslationContext) -> Mapping[str, Any]:
        settings = writer_settings(table)
        _reach(lambda: producer_of(settings), f"table {table.identifier}")
        is_fixed = table.options.get("sink.partitioner") == "fixed"
        client = {"settings": {**_AT_ONCE, **settings}, "topic": table.options["topic"], "fixed": is_fixed}
        return {"connector": "kafka", "type": java_row([]), "client": client, **_interpreter(context)}

    def rows_one_by_one(self, table: Table, node: Sink, rows: Stream, context: TranslationContext) -> DataFrame:
        messages = _messages_of(table, _written_metadata(node), rows, find_connector(table).upserts, context)
        types = {"key": "binary", "value": "binary", "timestamp": "bigint", "headers": "map<string,binary>"}
        columns = ((messages.get(name, F.lit(None)).cast(t)).alias(name) for name, t in types.items())
        return rows.frame.select(*columns)

    def python_writer(
        self, table: Table, node: Sink, rows: Stream, keys: Sequence[int], context: TranslationContext
    ) -> Any:
        settings = writer_settings(table)
        _reach(lambda: producer_of(settings), f"table {table.identifier}")
        messages = _messages_of(table, _written_metadata(node), rows, find_connector(table).upserts, context)
        writing = Writing(table.options["topic"], settings, table.options.get("sink.partitioner") == "fixed")
        send = _in_workers(writer(writing), RESULT, list(messages))
        columns = [column.alias(name)._jc for name, column in messages.items()]
        return context.runtime.sink.MessageWriter(columns, send._jc, rows.changelog, list(keys))


@table_builder
class UpsertKafka(Kafka):
    """The same where a key's last message is its row, and one without a value deletes it."""

    name = "upsert-kafka"


def _messages(table: Table, wanted: Sequence[str], context: TranslationContext) -> tuple[DataFrame, list[str]]:
    """The messages of a table's topics, and the names of the partitions that there are.

    Raises :class:`TableError` where they, or brokers, are not there.
    """
    from ...kafka.source import reader, schema_of
    from ...kafka.stream import Positions

    where = f"table {table.identifier}"
    reading = reading_of(table)
    broker = Broker(reading)
    _reach(broker.open, where)
    if context.is_real_time:
        return _live_messages(table, wanted, reading, broker, context)
    source = context.reader.format("flinkplan.runtime.source.RangeSource")
    shared = not context.needs_event_time
    try:
        if context.is_batch:
            ends = broker.ends()
            offset_ranges = ranges(broker.starts(), broker.latest(broker.partitions()) if ends is None else ends)
            source = source.option("tasks", msgspec.json.encode(tasks(offset_ranges, shared=shared)).decode())
        else:
            if context.turn is Turn.FIRST:
                context.switch.expect(table.identifier)
            place = InTurn(table.identifier, context.turn, context.switch)
            where_it_is = Positions(reading, context.settles, place, shared=shared, tells_lag=context.tells_lag)
            source = source.option("positions", offer_positions(where_it_is, KafkaError, context))
        partitions = [f"{topic}-{number}" for topic, number in broker.partitions()]
    except KafkaError as e:
        raise TableError(str(e), where=where) from None
    finally:
        broker.close()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of Spark's, about pandas, of which nothing is used here
        return source.load().mapInArrow(reader(tuple(wanted), reading.client), schema_of(wanted)), partitions


def _live_messages(
    table: Table, wanted: Sequence[str], reading: Reading, broker: Broker, context: TranslationContext
) -> tuple[DataFrame, list[str]]:
    """As :func:`_messages`, read by one task as they come."""
    from ...kafka.source import schema_of
    from ...kafka.stream import Positions

    try:
        partitions = [f"{topic}-{number}" for topic, number in broker.partitions()]
    except KafkaError as e:
        raise TableError(str(e), where=f"table {table.identifier}") from None
    finally:
        broker.close()
    positions = offer_positions(Positions(reading, tells_lag=context.tells_lag), KafkaError, context)
    source = context.reader.format("flinkplan.runtime.message.RealTimeMessages").schema(schema_of(wanted))
    options = {"positions": positions, "ticks": str(context.tells_time).lower(), **_interpreter(context)}
    return source.options(**options).load(), partitions


def _interpreter(context: TranslationContext) -> Mapping[str, str]:
    """The interpreter of the client's process, and where it looks for modules."""
    return {"python": str(context.spark.sparkContext.pythonExec), "modules": str(Path(__file__).parents[4])}


def _in_workers(work: Callable[..., Any], result: Any, columns: Sequence[str]) -> Column:
    """What Spark's Python workers make of the batches of a frame with these columns."""
    from pyspark.sql.pandas.functions import pandas_udf
    from pyspark.util import PythonEvalType

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of Spark's, about pandas, of which nothing is used here
        made: Callable[..., Callable[..., Column]] = pandas_udf
        return made(work, result, PythonEvalType.SQL_MAP_ARROW_ITER_UDF)(*columns)


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


def _wanted(key: MessagePart | None, request: Request) -> list[str]:
    """The columns of messages that a scan needs."""
    return list(dict.fromkeys([*_PLACE, *(["key"] if key else []), "value", *request.metadata]))


def _metadata(messages: DataFrame, name: str) -> Column:
    """A metadata column in its type."""

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

    key, value = message_parts(table)
    names = [name for name, _ in table.physical]
    insert = F.lit(INSERT).cast("tinyint")
    kind = F.col(KIND) if rows.changelog else insert
    written = _encoded(value, names, rows, insert if upserts else kind, context)
    if upserts and rows.changelog:
        written = F.when(~kind.isin(UPDATE_BEFORE, DELETE), written)
    keyed = _encoded(key, names, rows, insert, context) if key else F.lit(None).cast("binary")
    columns_by_part = {"key": keyed, "value": written}
    for i, name in enumerate(metadata):
        column = F.col(column_name(len(names) + i))
        columns_by_part[name] = F.unix_millis(column) if name == "timestamp" else column
    return columns_by_part


def _encoded(
    part: MessagePart, names: Sequence[str], rows: Stream, kind: Column, context: TranslationContext
) -> Column:

    row = F.struct(*(F.col(column_name(names.index(name))).alias(f"f{i}") for i, name in enumerate(part.names)))
    schema = java_type(context, rows.frame.select(row.alias("row")).schema["row"].dataType)
    encoder = context.runtime.message.MessageEncoder
    return sql.Column(encoder.column(json.dumps(part.written_spec()), schema, row._jc, kind._jc))

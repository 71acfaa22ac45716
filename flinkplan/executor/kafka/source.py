"""Reads messages, in Spark's Python workers."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec
from pyspark.sql.types import BinaryType, DataType, IntegerType, LongType, MapType, StringType, StructField, StructType

from .positions import SECONDS, KafkaError, Range
from .settings import consumer_of

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message
    from pyarrow import Array, RecordBatch

COLUMNS: Mapping[str, DataType] = {
    "topic": StringType(),
    "partition": IntegerType(),
    "offset": LongType(),
    "key": BinaryType(),
    "value": BinaryType(),
    "timestamp": LongType(),
    "timestamp-type": IntegerType(),
    "leader-epoch": IntegerType(),
    "headers": MapType(StringType(), BinaryType()),
}
"""What can be read of a message."""

CHUNK = 10_000
"""How many messages go to Spark at once."""

_WAIT = 0.1
"""Seconds that messages are waited for before it is looked whether any are still to come."""

_KEPT = 4
"""How many clients a worker keeps for the next batch."""


def schema_of(columns: Sequence[str]) -> StructType:
    """The schema of messages of which these columns are wanted."""
    return StructType([StructField(name, COLUMNS[name]) for name in columns])


def reader(
    columns: Sequence[str], settings: Mapping[str, Any]
) -> Callable[[Iterator[RecordBatch]], Iterator[RecordBatch]]:
    """What reads the messages of a task, whose range is all that is not NULL in the one column that it is given."""

    def read(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        for batch in batches:
            for text in batch.column(0).drop_null().to_pylist():
                yield from messages(msgspec.json.decode(text, type=Range), columns, settings)

    return read


class _Client:
    """A client that stands at a position of one partition."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.consumer: Consumer = consumer_of(settings)
        self._at: tuple[str, int, int] | None = None

    def stand(self, topic: str, partition: int, offset: int) -> None:
        """Go there, unless the client is there already and has read ahead."""
        from confluent_kafka import TopicPartition

        if self._at != (topic, partition, offset):
            self.consumer.assign([TopicPartition(topic, partition, offset)])
        self._at = (topic, partition, offset)

    def moved(self, topic: str, partition: int, offset: int) -> None:
        """Say how far has been read."""
        self._at = (topic, partition, offset)


_CLIENTS: OrderedDict[str, _Client] = OrderedDict()
"""The clients of this worker by settings and partition, the one used last at the end."""


def _client(settings: Mapping[str, Any], topic: str, partition: int) -> _Client:
    key = json.dumps([sorted(settings.items()), topic, partition])
    client = _CLIENTS.pop(key, None) or _Client(settings)
    _CLIENTS[key] = client
    while len(_CLIENTS) > _KEPT:
        _CLIENTS.popitem(last=False)[1].consumer.close()
    return client


def messages(wanted: Range, columns: Sequence[str], settings: Mapping[str, Any]) -> Iterator[RecordBatch]:
    """The messages of a range, so many at once, in these columns.

    Raises :class:`KafkaError` where they are gone, or no broker gives them.
    """
    client = _client(settings, wanted.topic, wanted.partition)
    client.stand(wanted.topic, wanted.partition, wanted.start)
    next_, heard = wanted.start, monotonic()
    while next_ < wanted.end:
        found = client.consumer.consume(min(CHUNK, wanted.end - next_), timeout=_WAIT)
        if found:
            heard = monotonic()
        elif monotonic() - heard > SECONDS:
            place = f"the partition {wanted.partition} of '{wanted.topic}'"
            raise KafkaError(f"no broker has given a message of {place} from offset {next_} on for {SECONDS:.0f} s")
        taken = [m for m in found if m.error() is None]
        ended = next((_end(m) for m in found if m.error() is not None), 0)
        next_ = max(next_, ended, _offset_of(taken[-1]) + 1 if taken else 0)
        client.moved(wanted.topic, wanted.partition, next_)
        within = taken if next_ <= wanted.end else [m for m in taken if _offset_of(m) < wanted.end]
        if within:
            yield _batch(within, columns)


def _offset_of(message: Message) -> int:
    return int(message.offset() or 0)


def _end(message: Message) -> int:
    """The end of the partition that a message which is none tells of."""
    from confluent_kafka import KafkaError as Code

    error = message.error()
    assert error is not None
    if error.code() == Code._PARTITION_EOF:
        return int(message.offset() or 0)
    raise KafkaError(f"the partition {message.partition()} of '{message.topic()}' cannot be read: {error.str()}")


def _batch(found: list[Message], columns: Sequence[str]) -> RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([_column(name, found) for name in columns], names=list(columns))


def _column(name: str, found: list[Message]) -> Array:
    import pyarrow as pa

    match name:
        case "topic":
            return pa.repeat(pa.scalar(found[0].topic(), pa.string()), len(found))
        case "partition":
            return pa.repeat(pa.scalar(found[0].partition(), pa.int32()), len(found))
        case "offset":
            return pa.array([m.offset() for m in found], pa.int64())
        case "key":
            return pa.array([m.key() for m in found], pa.binary())
        case "value":
            return pa.array([m.value() for m in found], pa.binary())
        case "timestamp":
            return pa.array([m.timestamp()[1] for m in found], pa.int64())
        case "timestamp-type":
            return pa.array([m.timestamp()[0] for m in found], pa.int32())
        case "leader-epoch":
            return pa.array([m.leader_epoch() for m in found], pa.int32())
        case _:
            headers = [list(dict(m.headers() or ()).items()) for m in found]
            return pa.array(headers, pa.map_(pa.string(), pa.binary()))

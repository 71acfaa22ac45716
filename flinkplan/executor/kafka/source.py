"""Reads messages, in Spark's Python workers."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec
from pyspark.sql.types import BinaryType, DataType, IntegerType, LongType, MapType, StringType, StructField, StructType

from .messages import end_offset
from .positions import SECONDS, KafkaError, Partition, Range
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
    """What reads the messages of a task, whose ranges are all that is not NULL in the one column that it is given."""

    def read(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        for batch in batches:
            for text in batch.column(0).drop_null().to_pylist():
                yield from messages(msgspec.json.decode(text, type=list[Range]), columns, settings)

    return read


_CONSUMERS: OrderedDict[str, Consumer] = OrderedDict()
"""The clients of this worker by their settings, the one used last at the end."""


def _consumer(settings: Mapping[str, Any]) -> Consumer:
    key = json.dumps(sorted(settings.items()))
    consumer = _CONSUMERS.pop(key, None) or consumer_of(settings)
    _CONSUMERS[key] = consumer
    while len(_CONSUMERS) > _KEPT:
        _CONSUMERS.popitem(last=False)[1].close()
    return consumer


def messages(wanted: Sequence[Range], columns: Sequence[str], settings: Mapping[str, Any]) -> Iterator[RecordBatch]:
    """The messages of ranges of different partitions in these columns: one partition after the other, so many at once.

    Raises :class:`KafkaError` where they are gone, or no broker gives them.
    """
    from confluent_kafka import TopicPartition

    consumer = _consumer(settings)
    consumer.assign([TopicPartition(each.topic, each.partition, each.start) for each in wanted])
    rests = {(each.topic, each.partition): _Rest(each) for each in wanted}
    heard = monotonic()
    try:
        while left := [rest for rest in rests.values() if rest.count]:
            messages = consumer.consume(min(CHUNK, sum(rest.count for rest in left)), timeout=_WAIT)
            if messages:
                heard = monotonic()
            elif monotonic() - heard > SECONDS:
                raise KafkaError(f"no broker has given a message of {left[0]} for {SECONDS:.0f} s")
            for place, some in _by_partition(messages, rests):
                rests[place].take(some)
                if not rests[place].count:
                    consumer.incremental_unassign([TopicPartition(*place)])
            for rest in rests.values():
                if rest.taken:
                    yield _batch(rest.taken, columns)
                    rest.taken = []
                if rest.count:
                    break
    finally:
        consumer.unassign()  # it would read on, and its next assignment wait for what it has asked the broker for


class _Rest:
    """What of a range has not been read yet, and in ``taken`` what has."""

    def __init__(self, wanted: Range) -> None:
        self._range = wanted
        self._next = wanted.start
        self.taken: list[Message] = []

    def __str__(self) -> str:
        return f"the partition {self._range.partition} of '{self._range.topic}' from offset {self._next} on"

    @property
    def count(self) -> int:
        """How many messages it has at most."""
        return max(self._range.end - self._next, 0)

    def take(self, messages: Sequence[Message]) -> None:
        """Take the next messages of the partition, among which its end may be told, as far as they are in the range.

        Raises :class:`KafkaError` for what else is told.
        """
        taken = [m for m in messages if m.error() is None]
        ended = next((end_offset(m) for m in messages if m.error() is not None), 0)
        self._next = max(self._next, ended, _offset_of(taken[-1]) + 1 if taken else 0)
        self.taken += taken if self._next <= self._range.end else [m for m in taken if _offset_of(m) < self._range.end]


def _by_partition(
    messages: Sequence[Message], rests: Mapping[Partition, _Rest]
) -> Iterable[tuple[Partition, Sequence[Message]]]:
    """Messages by their partitions, in each of them in their order."""
    if len(rests) == 1:
        return ((place, messages) for place in rests)
    places: dict[Partition, list[Message]] = {}
    for message in messages:
        place = message.topic() or "", message.partition() or 0
        if place in rests:
            places.setdefault(place, []).append(message)
        else:
            end_offset(message)
    return places.items()


def _offset_of(message: Message) -> int:
    return int(message.offset() or 0)


def _batch(messages: list[Message], columns: Sequence[str]) -> RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([_column(name, messages) for name in columns], names=list(columns))


def _column(name: str, messages: list[Message]) -> Array:
    import pyarrow as pa

    match name:
        case "topic":
            return pa.repeat(pa.scalar(messages[0].topic(), pa.string()), len(messages))
        case "partition":
            return pa.repeat(pa.scalar(messages[0].partition(), pa.int32()), len(messages))
        case "offset":
            return pa.array([m.offset() for m in messages], pa.int64())
        case "key":
            return pa.array([m.key() for m in messages], pa.binary())
        case "value":
            return pa.array([m.value() for m in messages], pa.binary())
        case "timestamp":
            return pa.array([m.timestamp()[1] for m in messages], pa.int64())
        case "timestamp-type":
            return pa.array([m.timestamp()[0] for m in messages], pa.int32())
        case "leader-epoch":
            return pa.array([m.leader_epoch() for m in messages], pa.int32())
        case _:
            headers = [list(dict(m.headers() or ()).items()) for m in messages]
            return pa.array(headers, pa.map_(pa.string(), pa.binary()))

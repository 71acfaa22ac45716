"""Writes messages, in Spark's Python workers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from time import monotonic
from typing import TYPE_CHECKING, Any

from ...plan.record import Record
from .positions import SECONDS, KafkaError
from .settings import producer_of

if TYPE_CHECKING:
    from confluent_kafka import KafkaError as KafkaCode
    from confluent_kafka import Message
    from pyarrow import RecordBatch

RESULT = "written bigint"
"""The schema of what a task tells: how many messages it has written."""

_HEARD = 1000
"""After so many messages it is heard which ones have not been taken."""

_STEP = 0.002
"""Seconds after which it is looked again whether all messages have arrived: it is not told of those that have."""

_ANY = -1
"""The partition that the client chooses."""


class Writing(Record):
    """Where messages go: the topic, and to the partition of each task's own if they are ``fixed``."""

    topic: str
    client: Mapping[str, Any]
    fixed: bool = False


def writer(writing: Writing) -> Callable[[Iterator[RecordBatch]], Iterator[RecordBatch]]:
    """What writes the messages of a task: batches with the columns ``key`` and ``value``, perhaps ``timestamp`` and
    ``headers``.

    It raises :class:`KafkaError` unless each one has arrived.
    """

    def write(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        import pyarrow as pa

        # this function is pickled with copies of what it names: only one of the module knows the module's clients
        yield pa.RecordBatch.from_pydict({"written": [_send(batches, writing)]})

    return write


def _send(batches: Iterator[RecordBatch], writing: Writing) -> int:
    """Write the messages of a task, and say how many there were."""
    settings = json.dumps(sorted(writing.client.items()))
    sender = _SENDERS.pop(settings, None) or _Sender(writing.client)
    partition = sender.own_partition(writing.topic) if writing.fixed else _ANY
    written = 0
    for batch in batches:
        sender.send(writing.topic, partition, batch)
        written += batch.num_rows
    sender.finish(writing.topic)
    _SENDERS[settings] = sender
    return written


class _Sender:
    """A client, and the first message of its that was not taken."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        own = {"on_delivery": self._hear, "delivery.report.only.error": True}
        self._producer = producer_of(settings, **own)
        self._error: str | None = None

    def _hear(self, error: KafkaCode | None, message: Message) -> None:
        if error is not None and self._error is None:
            self._error = f"a message to '{message.topic()}' was not taken: {error.str()}"

    def _check(self) -> None:
        if self._error is not None:
            raise KafkaError(self._error)

    def send(self, topic: str, partition: int, batch: RecordBatch) -> None:
        """Have messages sent.  Raises :class:`KafkaError` where one is not, or one of before was not taken."""
        from confluent_kafka import KafkaException

        columns = {name: column.to_pylist() for name, column in zip(batch.schema.names, batch.columns, strict=True)}
        keys, values = columns.pop("key"), columns.pop("value")
        for number, (value, key, more) in enumerate(zip(values, keys, _rows(columns), strict=False)):
            if number % _HEARD == 0:
                self._producer.poll(0)
                self._check()
            while True:
                try:
                    self._producer.produce(topic, value, key, partition, **more)
                except BufferError:
                    self._producer.poll(1)
                    self._check()
                except KafkaException as e:
                    raise KafkaError(f"a message to '{topic}' was not taken: {e.args[0].str()}") from None
                else:
                    break

    def finish(self, topic: str) -> None:
        """Wait until all messages have arrived.  Raises :class:`KafkaError` where they have not."""
        deadline = monotonic() + SECONDS
        while self._producer.flush(_STEP) > 0 and monotonic() < deadline:
            self._check()
        if len(self._producer) > 0:
            raise KafkaError(f"no broker has taken all messages to '{topic}' within {SECONDS:.0f} s")
        self._check()

    def own_partition(self, topic: str) -> int:
        """The partition of a task, as Flink's ``FlinkFixedPartitioner`` deals them out."""
        from confluent_kafka import KafkaException
        from pyspark import TaskContext

        try:
            count = len(self._producer.list_topics(topic, timeout=SECONDS).topics[topic].partitions)
        except KafkaException as e:
            raise KafkaError(f"no broker answers for '{topic}': {e.args[0].str()}") from None
        context = TaskContext.get()
        assert context is not None
        return context.partitionId() % max(count, 1)


_SENDERS: dict[str, _Sender] = {}
"""The clients of this worker by their settings, which tasks that have failed do not give back."""


def _rows(columns: Mapping[str, Sequence[Any]]) -> Iterable[Mapping[str, Any]]:
    """What each row says by the names of columns, without NULLs; rows without end where there are no columns."""
    if not columns:
        return repeat({})
    rows = zip(*columns.values(), strict=True)
    return ({name: value for name, value in zip(columns, row, strict=True) if value is not None} for row in rows)

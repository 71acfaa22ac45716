"""Writes messages, in Spark's Python workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...plan.record import Record
from .positions import SECONDS, KafkaError
from .settings import producer_of

if TYPE_CHECKING:
    from confluent_kafka import KafkaError as KafkaCode
    from confluent_kafka import Message, Producer
    from pyarrow import RecordBatch

RESULT = "written bigint"
"""The schema of what a task tells: how many messages it has written."""

_POLLED = 1000
"""After so many messages it is heard which ones have arrived."""


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

        producer = producer_of(writing.client)
        outcome = _Outcome()
        partition: dict[str, Any] = {"partition": _own_partition(producer, writing.topic)} if writing.fixed else {}
        written = 0
        for batch in batches:
            names = batch.schema.names
            for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                _send(producer, writing.topic, dict(zip(names, values, strict=True)), partition, outcome)
                written += 1
                if written % _POLLED == 0:
                    producer.poll(0)
                    outcome.check()
        if producer.flush(SECONDS) > 0:
            raise KafkaError(f"no broker has taken all messages to '{writing.topic}' within {SECONDS:.0f} s")
        outcome.check()
        yield pa.RecordBatch.from_pydict({"written": [written]})

    return write


class _Outcome:
    """What has become of messages."""

    def __init__(self) -> None:
        self._error: str | None = None

    def __call__(self, error: KafkaCode | None, message: Message) -> None:
        if error is not None and self._error is None:
            self._error = f"a message to '{message.topic()}' was not taken: {error.str()}"

    def check(self) -> None:
        if self._error is not None:
            raise KafkaError(self._error)


def _send(
    producer: Producer, topic: str, message: Mapping[str, Any], partition: Mapping[str, Any], outcome: _Outcome
) -> None:
    more = {name: message[name] for name in ("timestamp", "headers") if message.get(name) is not None}
    while True:
        try:
            producer.produce(topic, message["value"], message["key"], on_delivery=outcome, **partition, **more)
        except BufferError:
            producer.poll(1)
            outcome.check()
        else:
            return


def _own_partition(producer: Producer, topic: str) -> int:
    """The partition of a task, as Flink's ``FlinkFixedPartitioner`` deals them out."""
    from confluent_kafka import KafkaException
    from pyspark import TaskContext

    try:
        count = len(producer.list_topics(topic, timeout=SECONDS).topics[topic].partitions)
    except KafkaException as e:
        raise KafkaError(f"no broker answers for '{topic}': {e.args[0].str()}") from None
    context = TaskContext.get()
    assert context is not None
    return context.partitionId() % max(count, 1)

"""Messages as the client has them: where a partition ends, and how they are sent."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any

from .positions import SECONDS, KafkaError
from .settings import producer_of

if TYPE_CHECKING:
    from confluent_kafka import KafkaError as KafkaCode
    from confluent_kafka import Message

_HEARD = 1000
"""After so many messages it is heard which ones have not been taken."""

_STEP = 0.002
"""Seconds after which it is looked again whether all messages have arrived: it is not told of those that have."""


def end_offset(message: Message) -> int:
    """The end of the partition that a message which is none tells of.  Raises :class:`KafkaError` for what else is."""
    from confluent_kafka import KafkaError as Code

    error = message.error()
    assert error is not None
    if error.code() == Code._PARTITION_EOF:
        return int(message.offset() or 0)
    raise KafkaError(f"the partition {message.partition()} of '{message.topic()}' cannot be read: {error.str()}")


class Sender:
    """A client, and the first message of its that was not taken."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        own = {"on_delivery": self._hear, "delivery.report.only.error": True}
        self._producer = producer_of(settings, **own)
        self._error: str | None = None
        self._sent = 0

    def _hear(self, error: KafkaCode | None, message: Message) -> None:
        if error is not None and self._error is None:
            self._error = f"a message to '{message.topic()}' was not taken: {error.str()}"

    def _check(self) -> None:
        if self._error is not None:
            raise KafkaError(self._error)

    def send(self, topic: str, partition: int, key: bytes | None, value: bytes | None, more: Mapping[str, Any]) -> None:
        """Have a message sent.  Raises :class:`KafkaError` where it is not, or one of before was not taken."""
        from confluent_kafka import KafkaException

        if self._sent % _HEARD == 0:
            self._producer.poll(0)
            self._check()
        self._sent += 1
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

    def own_partition(self, topic: str, task: int) -> int:
        """The partition of a task, as Flink's ``FlinkFixedPartitioner`` deals them out."""
        from confluent_kafka import KafkaException

        try:
            count = len(self._producer.list_topics(topic, timeout=SECONDS).topics[topic].partitions)
        except KafkaException as e:
            raise KafkaError(f"no broker answers for '{topic}': {e.args[0].str()}") from None
        return task % max(count, 1)

"""A broker of Kafka as tests see it; inside this process it is that of librdkafka's own tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

try:
    from confluent_kafka import Consumer, Message, Producer, TopicPartition
except ImportError:
    pytest.skip("the client of Kafka, flinkplan[kafka], is not installed", allow_module_level=True)

PARTITIONS = 4
"""How many each topic has."""


class Broker:
    """Topics, which come into being when something is put into them; ``servers`` is where the broker is."""

    def __init__(self, servers: str) -> None:
        self.servers = servers
        self.settings: dict[str, Any] = {"bootstrap.servers": servers, "log_level": 0}

    def put(self, topic: str, *values: object, key: object = None, partition: int = 0, **more: Any) -> None:
        """Add messages; what is no text and no bytes is written as JSON, ``None`` is a message without a value."""
        producer = Producer(self.settings)
        for value in values:
            producer.produce(topic, _bytes(value), _bytes(key), partition=partition, **more)
        assert producer.flush(10) == 0

    def messages(self, topic: str) -> Iterator[Message]:
        """All messages of a topic, partition after partition."""
        consumer = Consumer({**self.settings, "group.id": "test", "enable.partition.eof": True})
        for partition in range(PARTITIONS):
            consumer.assign([TopicPartition(topic, partition, 0)])
            while (message := consumer.poll(10)) is not None and message.error() is None:
                yield message
        consumer.close()

    def contents(self, topic: str) -> list[tuple[Any, Any]]:
        """The keys and values of all messages, read as JSON."""
        return [(_json(m.key()), _json(m.value())) for m in self.messages(topic)]


class BrokerInside(Broker):
    """One that this process is."""

    def __init__(self) -> None:
        self._host = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "none", "log_level": 0})
        brokers = self._host.list_topics(timeout=10).brokers.values()
        super().__init__(",".join(f"{broker.host}:{broker.port}" for broker in brokers))


def _bytes(value: object) -> bytes | None:
    if value is None:
        return None
    if isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json.dumps(value)).encode()


def _json(found: Any) -> Any:
    return None if found is None else json.loads(found)

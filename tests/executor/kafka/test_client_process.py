"""The process that reads and sends messages in real-time mode, as Java talks to it."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from io import BytesIO
from threading import Thread
from typing import Any, BinaryIO

import pytest

from flinkplan.executor.kafka import client_process

from .brokers import Broker

LENGTH = struct.Struct(">i")


def frame(content: bytes) -> bytes:
    return LENGTH.pack(len(content)) + content


def message(key: bytes | None, value: bytes | None, *headers: tuple[bytes, bytes | None], time: int = -1) -> bytes:
    def part(content: bytes | None) -> bytes:
        return LENGTH.pack(-1) if content is None else frame(content)

    named = b"".join(part(name) + part(content) for name, content in headers)
    return struct.pack(">q", time) + part(key) + part(value) + LENGTH.pack(len(headers)) + named


def answers(*requests: bytes) -> bytes:
    """What the process answers to frames."""
    target = BytesIO()
    client_process.main(BytesIO(b"".join(map(frame, requests))), target)
    return target.getvalue()


def client(broker: Broker, **more: Any) -> bytes:
    return json.dumps({"settings": dict(broker.settings), **more}).encode()


def test_messages_are_sent_when_a_batch_has_finished(broker: Broker) -> None:
    first = message(b"k", b"v", (b"h", b"1"), (b"none", None), time=5)
    task = LENGTH.pack(0)
    sent = answers(client(broker, topic="process-sent"), task, first, message(None, None), b"", task, b"")
    assert sent == LENGTH.pack(0) * 2
    ((key, value, time, headers), empty) = sorted(
        ((m.key(), m.value(), m.timestamp()[1], m.headers()) for m in broker.messages("process-sent")), key=str
    )[::-1]
    assert (key, value, time, headers) == (b"k", b"v", 5, [("h", b"1"), ("none", None)])
    assert empty[:2] == (None, None)


def test_a_task_has_a_partition_of_its_own(broker: Broker) -> None:
    broker.put("process-fixed", 0)
    for task in (1, 6):
        answers(client(broker, topic="process-fixed", fixed=True), LENGTH.pack(task), message(b"k", b"v"), b"")
    assert [m.partition() for m in broker.messages("process-fixed")] == [0, 1, 2]


class Pipe:
    """What one thread writes and another reads."""

    def __init__(self) -> None:
        import os

        ends = os.pipe()
        self.source: BinaryIO = open(ends[0], "rb")  # noqa: SIM115, PTH123
        self.target: BinaryIO = open(ends[1], "wb")  # noqa: SIM115, PTH123

    def send(self, content: bytes) -> None:
        self.target.write(frame(content))
        self.target.flush()

    def receive(self) -> bytes:
        length = LENGTH.unpack(self.source.read(LENGTH.size))[0]
        return self.source.read(length)


def offsets(answer: bytes) -> list[tuple[int, int]]:
    """The places of partitions and the offsets of messages without headers."""
    read, at = [], 0
    while at < len(answer):
        place, offset = struct.unpack_from(">iq", answer, at)
        at += struct.calcsize(">iqqii")
        for _ in range(2):
            (length,) = LENGTH.unpack_from(answer, at)
            at += LENGTH.size + max(length, 0)
        at += LENGTH.size
        read.append((place, offset))
    return read


def test_messages_are_read_from_where_they_were_asked_for(broker: Broker) -> None:
    for partition in (0, 2):
        broker.put("process-read", "a", "b", "c", partition=partition)
    requests, replies = Pipe(), Pipe()
    settings = {**broker.settings, "group.id": "test", "fetch.wait.max.ms": 10}
    requests.send(json.dumps({"settings": settings}).encode())
    thread = Thread(target=client_process.main, args=(requests.source, replies.target), daemon=True)
    thread.start()

    def read(start: bytes, count: int) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        request = start
        while len(found) < count:
            requests.send(request)
            found += offsets(replies.receive())
            request = b""
        return sorted(found)

    def start(*places: Sequence[Any]) -> bytes:
        return json.dumps(places).encode()

    assert read(start(["process-read", 2, 1], ["process-read", 0, 0]), 5) == [(0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    # a batch that has read less asks for the rest again
    assert read(start(["process-read", 2, 3], ["process-read", 0, 2]), 1) == [(1, 2)]
    broker.put("process-read", "d", partition=2)
    assert read(b"", 1) == [(0, 3)]
    requests.target.close()
    thread.join(10)
    assert not thread.is_alive()


def test_what_fails_is_said(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Any, *arguments: Any, **more: Any) -> None:
        from flinkplan.executor.kafka.positions import KafkaError

        raise KafkaError("a message was not taken")

    monkeypatch.setattr("flinkplan.executor.kafka.messages.Sender.send", refuse)
    failed = answers(client(broker, topic="process-failed"), LENGTH.pack(0), message(b"k", b"v"), b"")
    assert failed == LENGTH.pack(-1) + frame(b"a message was not taken")

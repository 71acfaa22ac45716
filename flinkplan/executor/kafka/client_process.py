"""The process that reads or sends messages for a task in real-time mode.

It runs as ``python -m flinkplan.executor.kafka.client_process``, reads from its standard input and answers on its
standard output, in frames: a length (four bytes, big-endian), then as many bytes.  The first frame has in JSON what the
process does, and the settings of its client.  Where it fails the answer is a frame of the length -1 and one with the
error's text.

To **read**, a frame is an array in JSON of topics, partitions and offsets to go on from, or empty to go on.  The answer
has the messages that are there, after a short while perhaps none: of each the place of its partition in that array, its
offset, time and kind of time, the epoch of its leader, then key, value and headers, each with its length (-1: none).

To **send**, the first frame is the number of the task, then each is a message: its time (-1: none), key, value and
headers.  An empty frame is answered, by an empty one, when all messages have arrived.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import msgspec

from .messages import Sender, end_offset
from .positions import KafkaError
from .settings import consumer_of

_LENGTH = struct.Struct(">i")
_HEAD = struct.Struct(">iqqii")
_TIME = struct.Struct(">q")
_FAILED = _ABSENT = -1
_MOST = 1000
"""How many messages an answer has at most."""

_WAIT = 0.05
"""Seconds after which an answer comes also without messages."""


class Client(msgspec.Struct):
    """What a process does: it reads the topics that it is told, or sends to one; ``fixed`` as ``Writing`` has it."""

    settings: dict[str, Any]
    topic: str | None = None
    fixed: bool = False


def main(source: BinaryIO, target: BinaryIO) -> None:
    """Work until the source ends."""
    first = _read(source)
    if first is None:
        return  # nobody wanted it in the end
    client = msgspec.json.decode(first, type=Client)
    try:
        answers = _reading(client, source) if client.topic is None else _sending(client, client.topic, source)
        for answer in answers:
            _write(target, answer)
    except KafkaError as error:
        target.write(_LENGTH.pack(_FAILED))
        _write(target, str(error).encode())


# ---------------------------------------------------------------- reading


def _reading(client: Client, source: BinaryIO) -> Iterator[bytes]:
    from confluent_kafka import TopicPartition

    consumer = consumer_of(client.settings, **{"enable.partition.eof": False})
    places: dict[tuple[str, int], int] = {}
    offsets: dict[tuple[str, int], int] = {}
    while (frame := _read(source)) is not None:
        if frame:
            wanted = msgspec.json.decode(frame, type=list[tuple[str, int, int]])
            places = {(topic, number): at for at, (topic, number, _) in enumerate(wanted)}
            if offsets != (start := {(topic, number): offset for topic, number, offset in wanted}):
                offsets = start
                consumer.assign([TopicPartition(*each) for each in wanted])
        yield _polled(consumer, places, offsets)


def _polled(consumer: Any, places: Mapping[tuple[str, int], int], offsets: dict[tuple[str, int], int]) -> bytes:
    """The messages that are there, or the first that come within a while."""
    first = consumer.poll(_WAIT)
    if first is None:
        return b""
    parts: list[bytes] = []
    for message in (first, *consumer.consume(_MOST, timeout=0)):
        if message.error() is not None:
            end_offset(message)
            continue
        place = message.topic(), message.partition()
        offsets[place] = message.offset() + 1
        parts += _packed(message, places[place])
    return b"".join(parts)


def _packed(message: Any, at: int) -> Sequence[bytes]:
    kind, time = message.timestamp()
    epoch = message.leader_epoch()
    head = _HEAD.pack(at, message.offset() or 0, time, kind, _ABSENT if epoch is None else epoch)
    headers = message.headers() or ()
    named = [part for name, value in headers for part in (*_sized(name.encode()), *_sized(value))]
    return [head, *_sized(message.key()), *_sized(message.value()), _LENGTH.pack(len(headers)), *named]


def _sized(content: Any) -> Sequence[bytes]:
    if content is None:
        return (_LENGTH.pack(_ABSENT),)
    encoded = content.encode() if isinstance(content, str) else content
    return _LENGTH.pack(len(encoded)), encoded


# ---------------------------------------------------------------- sending


def _sending(client: Client, topic: str, source: BinaryIO) -> Iterator[bytes]:
    sender = Sender(client.settings)
    while (task := _read(source)) is not None:
        partition = sender.own_partition(topic, _LENGTH.unpack(task)[0]) if client.fixed else _ABSENT
        while message := _read(source):
            sender.send(topic, partition, *_unpacked(message))
        if message is None:
            return  # the task has failed
        sender.finish(topic)
        yield b""


def _unpacked(frame: bytes) -> tuple[bytes | None, bytes | None, Mapping[str, Any]]:
    """Key, value and what else there is of a message."""
    (time,) = _TIME.unpack_from(frame)
    at = _TIME.size

    def part() -> bytes | None:
        nonlocal at
        (length,) = _LENGTH.unpack_from(frame, at)
        at += _LENGTH.size
        if length == _ABSENT:
            return None
        content = frame[at : at + length]
        at += length
        return content

    key, value = part(), part()
    (count,) = _LENGTH.unpack_from(frame, at)
    at += _LENGTH.size
    more: dict[str, Any] = {} if time == _ABSENT else {"timestamp": time}
    if count:
        more["headers"] = [((part() or b"").decode(), part()) for _ in range(count)]
    return key, value, more


# ---------------------------------------------------------------- frames


def _read(source: BinaryIO) -> bytes | None:
    head = source.read(_LENGTH.size)
    return source.read(_LENGTH.unpack(head)[0]) if len(head) == _LENGTH.size else None


def _write(target: BinaryIO, content: bytes) -> None:
    target.write(_LENGTH.pack(len(content)))
    target.write(content)
    target.flush()


if __name__ == "__main__":
    answers_to = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    main(sys.stdin.buffer, answers_to)

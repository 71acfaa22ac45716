"""Where reading is: offsets by topic and partition, as they stand in Spark's checkpoint."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from time import monotonic, sleep
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ...plan.record import Record
from .settings import Reading, consumer_of

if TYPE_CHECKING:
    from confluent_kafka import Consumer, TopicPartition
    from confluent_kafka import KafkaError as KafkaCode

_Answer = TypeVar("_Answer")

Partition: TypeAlias = tuple[str, int]
"""A topic and the number of a partition of it."""

Offsets: TypeAlias = dict[Partition, int]
"""By partition the offset of the next message."""

SECONDS = 30.0
"""How long an answer of a broker is waited for."""

_PAUSE = 0.2
"""How long before it is asked again."""

_EARLIEST, _LATEST = -2, -1
"""What stands for the ends of a partition among times."""

TASK_MESSAGES = 5_000
"""Up to so many messages of several partitions are read by one task."""

INTERNAL = "__"
"""What the names of topics begin with that no pattern means."""


class KafkaError(Exception):
    """What a broker does not have, or answer."""


class Range(Record):
    """The messages of a partition from the offset ``start`` to before ``end``."""

    topic: str
    partition: int
    start: int
    end: int


class Broker:
    """Answers what there is in the topics that a table is read from."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._client: Consumer | None = None
        self._partitions: list[Partition] = []
        self._looked = 0.0

    @property
    def client_settings(self) -> Mapping[str, object]:
        """What clients of the broker are told."""
        return self._reading.client

    def open(self) -> Consumer:
        """The client, which there is until the broker is let go of.  Raises what the client says of its settings."""
        if self._client is None:
            self._client = consumer_of(self._reading.client)
        return self._client

    def partitions(self) -> list[Partition]:
        """All partitions there are; looked up again once in the table's interval."""
        interval = self._reading.discovery_ms / 1000
        if not self._partitions or (interval and monotonic() - self._looked >= interval):
            self._partitions = sorted(self._discovered())
            self._looked = monotonic()
        return self._partitions

    def _discovered(self) -> Iterator[Partition]:
        topics = self._answer(lambda c: c.list_topics(timeout=SECONDS)).topics
        missing = [topic for topic in self._reading.topics if topic not in topics]
        if missing:
            raise KafkaError(f"there is no topic '{missing[0]}'")
        for name, topic in topics.items():
            if self._is_read(name):
                yield from ((name, number) for number in topic.partitions)

    def _is_read(self, topic: str) -> bool:
        if self._reading.pattern is None:
            return topic in self._reading.topics
        return re.fullmatch(self._reading.pattern, topic) is not None and not topic.startswith(INTERNAL)

    def starts(self) -> Offsets:
        """Where reading begins."""
        reading, partitions = self._reading, self.partitions()
        match reading.start:
            case "earliest-offset":
                return self.earliest(partitions)
            case "latest-offset":
                return self.latest(partitions)
            case "timestamp":
                return self._at(partitions, reading.start_time)
            case "specific-offsets":
                return self._or_earliest(
                    {p: reading.start_offsets[p[1]] for p in partitions if p[1] in reading.start_offsets}
                )
            case _:
                return self._of_group(partitions, self._reset)

    def ends(self) -> Offsets | None:
        """Where reading ends; ``None``: nowhere."""
        reading, partitions = self._reading, self.partitions()
        match reading.end:
            case "unbounded":
                return None
            case "latest-offset":
                return self.latest(partitions)
            case "timestamp":
                return self._at(partitions, reading.end_time)
            case "specific-offsets":
                given = {p: reading.end_offsets[p[1]] for p in partitions if p[1] in reading.end_offsets}
                return {p: given.get(p, 0) for p in partitions} | given
            case _:
                return self._of_group(partitions, self.latest)

    def earliest(self, partitions: Iterable[Partition]) -> Offsets:
        """The offset of the first message that is kept, by partition."""
        return self._asked(partitions, _EARLIEST)

    def latest(self, partitions: Iterable[Partition]) -> Offsets:
        """The offset that the next message will have, by partition."""
        return self._asked(partitions, _LATEST)

    def _or_earliest(self, offsets: Offsets) -> Offsets:
        rest = [p for p in self.partitions() if p not in offsets]
        return {**offsets, **self.earliest(rest)}

    def _at(self, partitions: Iterable[Partition], time: int) -> Offsets:
        """The first messages from a time (epoch milliseconds) on; behind all where there is none."""
        at_time = self._asked(partitions, time)
        return {**at_time, **self.latest(p for p, offset in at_time.items() if offset < 0)}

    def _asked(self, partitions: Iterable[Partition], time: int) -> Offsets:
        from confluent_kafka import TopicPartition

        wanted = [TopicPartition(topic, number, time) for topic, number in partitions]
        if not wanted:
            return {}
        return _without_errors(self._answer(lambda c: c.offsets_for_times(wanted, timeout=SECONDS)))

    def _of_group(self, partitions: list[Partition], otherwise: Callable[[list[Partition]], Offsets]) -> Offsets:
        from confluent_kafka import TopicPartition

        if self._reading.group is None:
            raise KafkaError("reading from a group's offsets needs 'properties.group.id'")
        asked = [TopicPartition(t, n) for t, n in partitions]
        told = self._answer(lambda c: c.committed(asked, timeout=SECONDS))
        offsets = {p: offset for p, offset in _without_errors(told).items() if offset >= 0}
        rest = [p for p in partitions if p not in offsets]
        return {**offsets, **(otherwise(rest) if rest else {})}

    def committed(self, partitions: list[Partition]) -> Offsets:
        """The offsets of the consumer group, by partition; where it has none, as the table's options say."""
        return self._of_group(partitions, self._reset) if partitions else {}

    def _reset(self, partitions: list[Partition]) -> Offsets:
        match self._reading.reset:
            case "earliest":
                return self.earliest(partitions)
            case "latest":
                return self.latest(partitions)
            case _:
                topic, number = partitions[0]
                group = self._reading.group
                raise KafkaError(f"the group '{group}' has no offset in the partition {number} of '{topic}'")

    def commit(self, offsets: Offsets) -> None:
        """Tell the group how far the job is, for people who watch it; the job itself goes by its checkpoint."""
        from confluent_kafka import TopicPartition

        if self._reading.group is not None:
            told = [TopicPartition(topic, number, offset) for (topic, number), offset in offsets.items()]
            self.open().commit(offsets=told, asynchronous=True)

    def _answer(self, ask: Callable[[Consumer], _Answer]) -> _Answer:
        """What a broker answers, which may just be starting again."""
        from confluent_kafka import KafkaException

        deadline = monotonic() + SECONDS
        while True:
            try:
                return ask(self.open())
            except KafkaException as e:
                if not _may_pass(e.args[0]) or monotonic() >= deadline:
                    servers = self._reading.client.get("bootstrap.servers")
                    raise KafkaError(f"no broker answers at {servers}: {e.args[0].str()}") from None
                sleep(_PAUSE)

    def close(self) -> None:
        """Let go of the broker until it is asked again."""
        if self._client is not None:
            self._client.close()
        self._client = None


def _may_pass(error: KafkaCode) -> bool:
    codes = (error._TRANSPORT, error._ALL_BROKERS_DOWN, error._TIMED_OUT, error._RESOLVE)
    return error.retriable() or error.code() in codes


def _without_errors(partitions: Iterable[TopicPartition]) -> Offsets:
    offsets: Offsets = {}
    for each in partitions:
        if each.error is not None:
            raise KafkaError(f"no offset of the partition {each.partition} of '{each.topic}': {each.error.str()}")
        offsets[each.topic, each.partition] = each.offset
    return offsets


def ranges(start: Mapping[Partition, int], end: Mapping[Partition, int]) -> list[Range]:
    """What is to be read between two positions, in the order of topics and partitions."""
    return [Range(t, n, start[t, n], e) for (t, n), e in sorted(end.items()) if e > start.get((t, n), e)]


def tasks(to_read: Iterable[Range], *, shared: bool) -> list[list[Range]]:
    """Ranges by the tasks that read them.

    ``shared``: small ones of partitions in a row together, as starting a task takes longer than they do.  Else each has
    its own, as it must where the rows of a task have one watermark.
    """
    found_tasks: list[list[Range]] = []
    messages = 0
    for each in to_read:
        messages += each.end - each.start
        if not found_tasks or not shared or messages > TASK_MESSAGES:
            found_tasks.append([])
            messages = each.end - each.start
        found_tasks[-1].append(each)
    return found_tasks


def to_json(offsets: Offsets) -> dict[str, dict[str, int]]:
    """Offsets as they stand in a checkpoint: by topic, then by partition."""
    offsets_by_topic: dict[str, dict[str, int]] = {}
    for (topic, number), offset in sorted(offsets.items()):
        offsets_by_topic.setdefault(topic, {})[str(number)] = offset
    return offsets_by_topic


def from_json(saved: Mapping[str, Mapping[str, int]]) -> Offsets:
    """The offsets of :func:`to_json`."""
    return {(topic, int(number)): offset for topic, numbers in saved.items() for number, offset in numbers.items()}

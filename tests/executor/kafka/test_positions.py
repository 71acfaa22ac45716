"""Where reading begins and ends, asked of a broker."""

from __future__ import annotations

from typing import Any

import pytest

from flinkplan.executor.kafka.positions import (
    TASK_MESSAGES,
    KafkaError,
    Offsets,
    Range,
    from_json,
    ranges,
    tasks,
    to_json,
)
from flinkplan.executor.kafka.positions import Broker as Asked
from flinkplan.executor.kafka.settings import READER, Reading, consumer_of
from flinkplan.plan.record import replace

from .brokers import Broker


def _reading(broker: Broker, topic: str, **more: Any) -> Reading:
    client = {**READER, "group.id": "flinkplan", **broker.settings}
    return Reading(**{"topics": (topic,), "pattern": None, "client": client, **more})


def _by_number(offsets: Offsets | None) -> list[int]:
    assert offsets is not None
    return [offset for _, offset in sorted(offsets.items())]


@pytest.fixture(scope="module")
def asked(broker: Broker) -> str:
    broker.put("asked", 1, 2, 3)
    broker.put("asked", 4, partition=2)
    return "asked"


@pytest.mark.parametrize(
    ("more", "starts"),
    [
        ({"start": "earliest-offset"}, [0, 0, 0, 0]),
        ({"start": "latest-offset"}, [3, 0, 1, 0]),
        ({"start": "specific-offsets", "start_offsets": {0: 2, 9: 1}}, [2, 0, 0, 0]),
        ({"group": "nobody", "reset": "earliest"}, [0, 0, 0, 0]),
        ({"group": "nobody", "reset": "latest"}, [3, 0, 1, 0]),
    ],
)
def test_where_reading_begins(broker: Broker, asked: str, more: dict[str, Any], starts: list[int]) -> None:
    assert _by_number(Asked(_reading(broker, asked, **more)).starts()) == starts


@pytest.mark.parametrize(
    ("more", "ends"),
    [
        ({"end": "latest-offset"}, [3, 0, 1, 0]),
        ({"end": "specific-offsets", "end_offsets": {0: 1}}, [1, 0, 0, 0]),
        ({"end": "group-offsets", "group": "nobody"}, [3, 0, 1, 0]),
    ],
)
def test_where_reading_ends(broker: Broker, asked: str, more: dict[str, Any], ends: list[int]) -> None:
    assert _by_number(Asked(_reading(broker, asked, **more)).ends()) == ends


def test_unbounded_reading_ends_nowhere(broker: Broker, asked: str) -> None:
    assert Asked(_reading(broker, asked)).ends() is None


def test_a_group_goes_on_where_it_was(broker: Broker, asked: str) -> None:
    client = {**broker.settings, "group.id": "known"}
    told = Asked(_reading(broker, asked, client=client, group="known"))
    told.commit({(asked, 0): 2})
    told.close()
    again = Asked(_reading(broker, asked, client=client, group="known", reset="latest"))
    assert _by_number(again.starts()) == [2, 0, 1, 0]


def test_a_group_without_offsets_and_without_a_word_of_where_to_begin_is_refused(broker: Broker, asked: str) -> None:
    with pytest.raises(KafkaError, match="the group 'nobody' has no offset in the partition 0 of 'asked'"):
        Asked(_reading(broker, asked, group="nobody")).starts()
    with pytest.raises(KafkaError, match=r"needs 'properties\.group\.id'"):
        Asked(_reading(broker, asked)).starts()


def test_topics_by_pattern(broker: Broker) -> None:
    for topic in ("pattern-a", "pattern-b", "other-pattern-a"):
        broker.put(topic, 1)
    reading = _reading(broker, "", topics=(), pattern="pattern-.*")
    assert {topic for topic, _ in Asked(reading).partitions()} == {"pattern-a", "pattern-b"}


def test_topics_that_come_are_found_again_after_a_while(broker: Broker) -> None:
    broker.put("coming-a", 1)
    reading = _reading(broker, "", topics=(), pattern="coming-.*")
    looks, looks_once = Asked(replace(reading, discovery_ms=1)), Asked(replace(reading, discovery_ms=0))
    known = {topic for each in (looks, looks_once) for topic, _ in each.partitions()}
    broker.put("coming-b", 1)
    assert known == {"coming-a"} == {topic for topic, _ in looks_once.partitions()}
    assert {topic for topic, _ in looks.partitions()} == {"coming-a", "coming-b"}


def test_a_time_behind_all_messages_is_the_end(monkeypatch: pytest.MonkeyPatch, broker: Broker, asked: str) -> None:
    """A broker says of each partition which message is the first from a time on; that of these tests knows no times."""
    told = {5000: {(asked, 0): 1, (asked, 2): -1}, -1: {(asked, 2): 9}}
    monkeypatch.setattr(Asked, "_asked", lambda self, partitions, time: {p: told[time][p] for p in partitions})
    at = Asked(_reading(broker, asked))
    monkeypatch.setattr(at, "partitions", lambda: [(asked, 0), (asked, 2)])
    monkeypatch.setattr(at, "_reading", replace(at._reading, start="timestamp", start_time=5000))
    assert at.starts() == {(asked, 0): 1, (asked, 2): 9}
    monkeypatch.setattr(at, "_reading", replace(at._reading, end="timestamp", end_time=5000))
    assert at.ends() == {(asked, 0): 1, (asked, 2): 9}


def test_a_topic_that_is_not_there(broker: Broker) -> None:
    with pytest.raises(KafkaError, match="there is no topic 'nowhere'"):
        Asked(_reading(broker, "nowhere")).partitions()


def test_a_broker_that_is_not_there(monkeypatch: pytest.MonkeyPatch, broker: Broker) -> None:
    monkeypatch.setattr("flinkplan.executor.kafka.positions.SECONDS", 0.5)
    client = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g", "log_level": 0}
    with pytest.raises(KafkaError, match=r"no broker answers at 127\.0\.0\.1:1"):
        Asked(_reading(broker, "t", client=client)).partitions()


def test_what_is_between_two_positions() -> None:
    start: Offsets = {("a", 0): 1, ("a", 1): 5}
    end: Offsets = {("a", 1): 5, ("a", 0): 3, ("b", 0): 7}
    assert ranges(start, end) == [Range("a", 0, 1, 3)]  # a new partition only begins


def test_small_ranges_share_a_task() -> None:
    def of(*sizes: int, shared: bool = True) -> list[list[int]]:
        found = tasks((Range("t", number, 5, 5 + size) for number, size in enumerate(sizes)), shared=shared)
        assert [each.partition for task in found for each in task] == list(range(len(sizes)))
        return [[each.end - each.start for each in task] for task in found]

    assert of() == []
    assert of(1, 2, TASK_MESSAGES - 3, 1) == [[1, 2, TASK_MESSAGES - 3], [1]]
    assert of(1, TASK_MESSAGES + 1, 1, 1) == [[1], [TASK_MESSAGES + 1], [1, 1]]
    assert of(1, 1, shared=False) == [[1], [1]]


def test_positions_survive_the_checkpoint() -> None:
    offsets: Offsets = {("b", 10): 1, ("a", 2): 3, ("a", 0): 4}
    assert from_json(to_json(offsets)) == offsets
    assert list(to_json(offsets)) == ["a", "b"]


def test_the_client_says_what_it_does_not_take() -> None:
    with pytest.raises(Exception, match=r"security\.protocol"):
        consumer_of({"group.id": "g", "security.protocol": "bogus"})

"""Positions of topics that are read in turn with other sources."""

from __future__ import annotations

from typing import Any

import pytest

from flinkplan.executor.connectors.turns import InTurn, Turn
from flinkplan.executor.kafka.settings import READER, Reading
from flinkplan.executor.kafka.stream import Positions

from .brokers import Broker


class Switch:
    """What Java's does, for a single source before the last one."""

    def __init__(self, reached: bool) -> None:
        self.reached = reached
        self.gone = False

    def end(self, source: str) -> None:
        self.reached = True

    def isReached(self) -> bool:
        return self.reached

    def go(self) -> None:
        self.gone = True

    def table(self) -> str:
        return "`h`"


def _positions(broker: Broker, topic: str, turn: Turn, switch: Switch, settles: bool = False, **more: Any) -> Positions:
    client = {**READER, "group.id": "flinkplan", **broker.settings}
    reading = Reading(topics=(topic,), pattern=None, client=client, start="earliest-offset", **more)
    return Positions(reading, settles, InTurn("history", turn, switch))


@pytest.mark.parametrize("settles", [False, True])
def test_the_last_source_begins_behind_the_batch_in_which_the_others_end(broker: Broker, settles: bool) -> None:
    topic = f"last-{settles}"
    broker.put(topic, 1, 2)
    switch = Switch(reached=False)

    def positions() -> Positions:
        return _positions(broker, topic, Turn.LAST, switch, settles)

    start = positions().initial()
    assert positions().latest(start) == start
    assert positions().waiting(start) == {"waits for": "`h`", "waiting": "2"}
    switch.reached = True
    for _ in range(2 if settles else 1):
        assert not switch.gone
        end = positions().latest(start)
        assert positions().between(start, end) == []
        assert positions().waiting(end) == {}
        start = end
    assert switch.gone
    ((read,),) = positions().between(start, positions().latest(start))
    assert (read.start, read.end) == (0, 2)


def test_a_source_that_had_begun_says_so_after_a_restart(broker: Broker) -> None:
    broker.put("begun", 1)
    before = _positions(broker, "begun", Turn.LAST, Switch(reached=True))
    begun = before.latest(before.latest(before.initial()))
    switch = Switch(reached=False)  # the others have not been asked yet
    again = _positions(broker, "begun", Turn.LAST, switch)
    broker.put("begun", 2)
    ((read,),) = again.between(begun, again.latest(begun))
    assert (read.start, read.end, switch.gone) == (1, 2, True)


def test_a_source_has_ended_once_all_its_messages_are_planned(broker: Broker) -> None:
    broker.put("first", 1, 2)
    switch = Switch(reached=False)
    first = _positions(broker, "first", Turn.FIRST, switch, end="specific-offsets", end_offsets={0: 3})
    start = first.latest(first.initial())
    assert not switch.reached
    broker.put("first", 3, 4)
    ((read,),) = first.between(start, first.latest(start))
    assert (read.start, read.end, switch.reached) == (2, 3, True)

"""Where a stream of messages is, which Spark keeps in its checkpoint and asks for from the driver's Java."""

from __future__ import annotations

from time import monotonic
from typing import Any

from ..connectors.turns import InTurn, Turn
from .positions import Broker, KafkaError, Offsets, Range, from_json, ranges, tasks, to_json
from .settings import Reading

_AT_ONCE = InTurn()
_LAG_SECONDS = 1.0


class Positions:
    """Answers where a stream begins, how far it can be read, and what is between two positions.

    A position has the offsets by topic and partition, where reading ends if it does, and whether the batch without
    messages has come that follows one with some.  A partition that is new stands in it at its beginning first.
    ``settles``: each batch with messages is followed by one without, in which the watermark takes effect.
    ``shared``: partitions with few messages are read by one task.  ``tells_lag``: somebody looks at how many messages
    are still to be read.
    The last of several sources begins behind the batch in which the others end, and the one in which that one's
    watermark takes effect.
    """

    def __init__(
        self,
        reading: Reading,
        settles: bool = False,
        place: InTurn = _AT_ONCE,
        *,
        shared: bool = True,
        tells_lag: bool = False,
    ) -> None:
        self._broker = Broker(reading)
        self._settles = settles
        self._place = place
        self._shared = shared
        self._waits = 0 if place.turn is not Turn.LAST else 2 if settles else 1
        self._target: Offsets | None = None
        self._tells_lag = tells_lag
        self._newest: Offsets | None = None
        self._asked = 0.0

    def initial(self) -> dict[str, Any]:
        """Where reading begins."""
        self._target = None
        starts, ends = self._broker.starts(), self._broker.ends()
        return position(starts, ends, is_settled=True) | ({"waits": self._waits} if self._waits else {})

    def client(self) -> dict[str, Any]:
        """What a process that reads messages as they come is told of its client."""
        return {"settings": dict(self._broker.client_settings)}

    def start(self, position: dict[str, Any]) -> dict[str, Any]:
        """The same position with partitions that are new, at their beginnings; of a stream that reads as it comes."""
        offsets = from_json(position["positions"])
        new = [p for p in self._broker.partitions() if p not in offsets]
        return {**position, "positions": to_json({**offsets, **self._broker.earliest(new)})} if new else position

    def stop_at_what_is_there(self) -> None:
        """Have nothing read that comes later."""
        self._target = self._broker.latest(self._broker.partitions())

    def latest(self, start: dict[str, Any]) -> dict[str, Any]:
        """How far can be read from a position on."""
        if (left := self._left(start)) is not None:
            return {**start, "waits": left}
        from_, ends = from_json(start["positions"]), start["ends"] and from_json(start["ends"])
        newest = self._target if self._target is not None else self._broker.latest(self._broker.partitions())
        if ends is not None:
            newest = {p: min(offset, ends.get(p, 0)) for p, offset in newest.items()}
        to = {p: max(offset, newest.get(p, offset)) for p, offset in from_.items()}
        if ends is not None and all(to.get(p, 0) >= offset for p, offset in ends.items()):
            self._end()
        is_settled = not ranges(from_, to) or not self._settles
        new = [p for p in newest if p not in from_]
        reached = position({**to, **self._broker.earliest(new)}, ends, is_settled=is_settled)
        return reached | ({"waits": 0} if self._waits else {})

    def _left(self, start: dict[str, Any]) -> int | None:
        """In how many batches more nothing is read, where that is so in the next one."""
        if not self._waits or (switch := self._place.switch) is None:
            return None
        left: int = start.get("waits", 0)
        if left == self._waits and not switch.isReached():
            return left
        if left <= 1:
            switch.go()
        return left - 1 if left else None

    def _end(self) -> None:
        """Say that there is no more to read."""
        if self._place.turn is Turn.FIRST and self._place.switch is not None:
            self._place.switch.end(self._place.source)

    def waiting(self, position: dict[str, Any]) -> dict[str, str]:
        """What is waited for, and how many messages do; nothing where none is."""
        if not self._waits or (switch := self._place.switch) is None or position.get("waits", 0) < self._waits:
            return {}
        ends = self._broker.latest(self._broker.partitions())
        messages = sum(r.end - r.start for r in ranges(from_json(position["positions"]), ends))
        return {"waits for": switch.table(), "waiting": str(messages)}

    def lag(self, position: dict[str, Any]) -> dict[str, int]:
        """How many messages are behind a position, by topic and partition; the broker is asked once a second at most.

        Nothing where nobody wants to know, or the broker does not answer.
        """
        if not self._tells_lag or not position:
            return {}
        if self._newest is None or monotonic() - self._asked >= _LAG_SECONDS:
            try:
                self._newest = self._broker.latest(self._broker.partitions())
            except KafkaError:
                return {}
            self._asked = monotonic()
        read, ends = from_json(position["positions"]), position["ends"] and from_json(position["ends"])
        newest = self._newest if ends is None else {p: min(n, ends.get(p, 0)) for p, n in self._newest.items()}
        return {f"{topic}/{number}": max(newest.get((topic, number), n) - n, 0) for (topic, number), n in read.items()}

    def between(self, start: dict[str, Any], end: dict[str, Any]) -> list[list[Range]]:
        """What is read from one position to another, by tasks."""
        return tasks(ranges(from_json(start["positions"]), from_json(end["positions"])), shared=self._shared)

    def commit(self, end: dict[str, Any]) -> None:
        """Tell the group that all before a position is done."""
        self._broker.commit(from_json(end["positions"]))

    def close(self) -> None:
        """Let go of the broker until somebody asks again."""
        self._broker.close()


def position(offsets: Offsets, ends: Offsets | None, *, is_settled: bool) -> dict[str, Any]:
    """A position in a stream as a checkpoint has it, see :class:`Positions`."""
    return {"positions": to_json(offsets), "ends": None if ends is None else to_json(ends), "settled": is_settled}

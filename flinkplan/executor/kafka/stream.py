"""Where a stream of messages is, which Spark keeps in its checkpoint and asks for from the driver's Java."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from .positions import Broker, KafkaError, Offsets, Range, from_json, ranges, to_json
from .settings import Reading


class Positions:
    """Answers where a stream begins, how far it can be read, and what is between two positions.

    A position has the offsets by topic and partition, where reading ends if it does, and whether the batch without
    messages has come that follows one with some.  A partition that is new stands in it at its beginning first.
    ``settles``: each batch with messages is followed by one without, in which the watermark takes effect.
    ``waits``: reading begins behind the first batch, and the one in which that one's watermark takes effect.
    """

    def __init__(self, reading: Reading, settles: bool = False, waits: bool = False) -> None:
        self._broker = Broker(reading)
        self._settles = settles
        self._waits = 0 if not waits else 2 if settles else 1
        self._target: Offsets | None = None

    def initial(self) -> dict[str, Any]:
        """Where reading begins."""
        self._target = None
        starts, ends = self._broker.starts(), self._broker.ends()
        return _position(starts, ends, True) | ({"waits": self._waits} if self._waits else {})

    def stop_at_what_is_there(self) -> None:
        """Have nothing read that comes later."""
        self._target = self._broker.latest(self._broker.partitions())

    def latest(self, start: dict[str, Any]) -> dict[str, Any]:
        """How far can be read from a position on."""
        if self._waits and (left := start.get("waits", 0)):
            return {**start, "waits": left - 1}
        from_, ends = from_json(start["positions"]), start["ends"] and from_json(start["ends"])
        newest = self._target if self._target is not None else self._broker.latest(self._broker.partitions())
        if ends is not None:
            newest = {p: min(offset, ends.get(p, 0)) for p, offset in newest.items()}
        to = {p: max(offset, newest.get(p, offset)) for p, offset in from_.items()}
        is_settled = not ranges(from_, to) or not self._settles
        new = [p for p in newest if p not in from_]
        found = _position({**to, **self._broker.earliest(new)}, ends, is_settled)
        return found | ({"waits": 0} if self._waits else {})

    def between(self, start: dict[str, Any], end: dict[str, Any]) -> list[Range]:
        """What is read from one position to another."""
        return ranges(from_json(start["positions"]), from_json(end["positions"]))

    def commit(self, end: dict[str, Any]) -> None:
        """Tell the group that all before a position is done."""
        self._broker.commit(from_json(end["positions"]))

    def close(self) -> None:
        """Let go of the broker until somebody asks again."""
        self._broker.close()


def _position(offsets: Offsets, ends: Offsets | None, is_settled: bool) -> dict[str, Any]:
    return {"positions": to_json(offsets), "ends": None if ends is None else to_json(ends), "settled": is_settled}


class JavaPositions:
    """Positions as ``Positions.java`` asks for them: by the name of the method and its arguments, all as JSON."""

    class Java:
        """What the object is for Java."""

        implements = ("java.util.function.BiFunction",)

    def __init__(self, positions: Positions) -> None:
        self._methods = {
            each.__name__: each
            for each in (
                positions.initial,
                positions.stop_at_what_is_there,
                positions.latest,
                positions.between,
                positions.commit,
                positions.close,
            )
        }

    def apply(self, method: str, arguments: str) -> str:
        """The answer, or why there is none."""
        try:
            answer = self._methods[method](*json.loads(arguments))
        except KafkaError as e:
            return json.dumps({"error": str(e)})
        return msgspec.json.encode({"answer": answer}).decode()

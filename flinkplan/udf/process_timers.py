"""The timers of a key in a worker, with names and without.  The same as ``Timers.java``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush

from ..plan.record import Record


class Timer(Record):
    """A timer; ``name`` is ``None`` if it has none.

    ``due`` is the watermark that it waits for: its time, or of one that was set too late the next one.
    """

    name: str | None
    time: int
    due: int

    @property
    def order(self) -> tuple[int, bool, int, str]:
        """What one watermark reaches at once: first those without a name, as Flink's timer services do."""
        return self.due, self.name is not None, self.time, self.name or ""


class Timers:
    """Timers in the order in which they fire."""

    def __init__(self, timers: Iterable[Timer] = ()) -> None:
        self._by_key: dict[str | int, Timer] = {_key(timer.name, timer.time): timer for timer in timers}
        self._heap = [(timer.order, timer) for timer in self._by_key.values()]
        heapify(self._heap)
        self.changed = False

    def __iter__(self) -> Iterator[Timer]:
        return iter(sorted(self._by_key.values(), key=lambda timer: timer.order))

    def register(self, name: str | None, time: int, due: int) -> None:
        """Set a timer: one with a name takes the place of the former one, one without stays if it is there."""
        if name is None and time in self._by_key:
            return
        timer = Timer(name, time, due)
        self._by_key[_key(name, time)] = timer
        heappush(self._heap, (timer.order, timer))
        self.changed = True

    def remove(self, key: str | int) -> None:
        """Remove the timer of a name, or the one without a name at a time."""
        self.changed |= self._by_key.pop(key, None) is not None

    def clear(self) -> None:
        """Remove all timers."""
        self.changed |= bool(self._by_key)
        self._by_key.clear()
        self._heap.clear()

    def due(self) -> int | None:
        """The watermark that the first timer waits for; ``None`` where there is none."""
        while self._heap:
            timer = self._heap[0][1]
            if self._by_key.get(_key(timer.name, timer.time)) is timer:
                return timer.due
            heappop(self._heap)
        return None

    def take(self) -> Timer:
        """Take the first timer; :meth:`due` has told that there is one."""
        timer = heappop(self._heap)[1]
        self.remove(_key(timer.name, timer.time))
        return timer


def _key(name: str | None, time: int) -> str | int:
    return time if name is None else name

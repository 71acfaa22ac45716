"""Flink's assigners, triggers, evictors and functions as classes of a user's own: what ``--python`` runs cases by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from flinkplan.datastream import (
    Evictor,
    GlobalWindow,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    Row,
    TimestampedValue,
    Trigger,
    TriggerResult,
    ValueStateDescriptor,
)
from flinkplan.windowing import builtins

FIRE, CONTINUE = TriggerResult.FIRE, TriggerResult.CONTINUE


# ---------------------------------------------------------------- assigners


class Sliding(builtins.SlidingWindows):
    """Tumbling windows, too."""

    def __init__(self, size: int, slide: int, offset: int, event_time: bool) -> None:
        super().__init__(size, slide, offset, event_time)
        if size <= 0 or slide <= 0 or abs(offset) >= slide or size // slide > 10_000_000:
            raise ValueError("size and slide must be positive, and the offset smaller than the slide")


class Session(builtins.SessionWindows):
    """Sessions of one gap, or of a gap that a column has."""

    def __init__(self, gap: int | str, event_time: bool) -> None:
        super().__init__(event_time)
        self.gap = gap
        if isinstance(gap, int) and gap <= 0:
            raise ValueError("the gap must be positive")

    def assign_windows(self, element: Any, timestamp: int, context: Any) -> Any:
        context.gap = element[self.gap] if isinstance(self.gap, str) else self.gap
        return super().assign_windows(element, timestamp, context)


class Global(builtins.GlobalWindows):
    """One window."""


# ---------------------------------------------------------------- triggers


class EventTime(builtins.EventTimeTrigger):
    """At the end by the watermark."""


class ProcessingTime(builtins.ProcessingTimeTrigger):
    """At the end by the clock."""


class Never(builtins.NeverTrigger):
    """Never; as in Flink of global windows alone."""

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
        if not isinstance(window, GlobalWindow):
            raise TypeError(f"NeverTrigger is of global windows, not {window}")
        return super().on_element(element, timestamp, window, ctx)


class EndOfStream(builtins.EndOfStreamTrigger):
    """When input ends."""


class Count(builtins.CountTrigger):
    """After so many rows."""


class Continuous(builtins.ContinuousTrigger):
    """At each interval."""


class Delta(Trigger):
    """When a row differs from that of the last firing."""

    def __init__(self, column: str, threshold: float, delta: str) -> None:
        self.column, self.threshold, self.delta = column, threshold, delta
        self.last = ValueStateDescriptor("last")

    def on_element(self, element: Row, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
        last = ctx.get_partitioned_state(self.last)
        if last.value() is None:
            last.update(element)
            return CONTINUE
        difference = _delta(self.delta, self.column, last.value(), element)
        if difference is None or difference <= self.threshold:
            return CONTINUE
        last.update(element)
        return FIRE

    def on_event_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        return CONTINUE

    def on_processing_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        return CONTINUE

    def clear(self, window: Any, ctx: Any) -> None:
        ctx.get_partitioned_state(self.last).clear()


class Purging(builtins.PurgingTrigger):
    """Around another class of this module: its name, and what it is made with."""

    def __init__(self, of: str, arguments: dict[str, Any]) -> None:
        super().__init__(globals()[of](**arguments))


class Timeout(builtins.ProcessingTimeoutTrigger):
    """Likewise."""

    def __init__(self, of: str, arguments: dict[str, Any], interval: int, resets: bool, clears: bool) -> None:
        super().__init__(globals()[of](**arguments), interval, resets, clears)


def _delta(kind: str, column: str, old: Row, new: Row) -> float | None:
    if old[column] is None or new[column] is None:
        return None
    signed = float(new[column]) - float(old[column])
    return abs(signed) if kind == "absolute" else signed


# ---------------------------------------------------------------- evictors


class CountEvictor(builtins.CountEvictor):
    """Keeps the last rows."""


class TimeEvictor(builtins.TimeEvictor):
    """Keeps the latest rows."""


class DeltaEvictor(Evictor):
    """Keeps the rows that are near the last one."""

    def __init__(self, column: str, threshold: float, delta: str, after: bool) -> None:
        self.column, self.threshold, self.delta, self.after = column, threshold, delta, after

    def evict_before(self, elements: list[TimestampedValue], size: int, window: Any, ctx: Any) -> None:
        if not self.after:
            self._evict(elements)

    def evict_after(self, elements: list[TimestampedValue], size: int, window: Any, ctx: Any) -> None:
        if self.after:
            self._evict(elements)

    def _evict(self, elements: list[TimestampedValue]) -> None:
        last = elements[-1].get_value() if elements else None
        elements[:] = [each for each in elements if not self._is_far(each.get_value(), last)]

    def _is_far(self, row: Row, last: Any) -> bool:
        difference = _delta(self.delta, self.column, row, last)
        return difference is not None and difference >= self.threshold


# ---------------------------------------------------------------- functions


class _Function:
    """One for windows with keys and without."""

    def results(self, key: Row, context: Any, elements: list[Row]) -> Iterator[Any]:
        raise NotImplementedError


class Reduce(_Function):
    """Two rows become one."""

    def __init__(self, columns: dict[str, str]) -> None:
        self.columns = columns

    def results(self, key: Row, context: Any, elements: list[Row]) -> Iterator[Any]:
        reduced = elements[0].as_dict()
        for row in elements[1:]:
            for column, how in self.columns.items():
                reduced[column] = _reduced(how, [reduced[column], row[column]])
        yield reduced


def _reduced(how: str, values: list[Any]) -> Any:
    known = [value for value in values if value is not None]
    if not known:
        return None
    match how:
        case "first" | "last":
            return known[0 if how == "first" else -1]
    reductions: dict[str, Callable[[list[Any]], Any]] = {"sum": sum, "min": min, "max": max}
    return reductions[how](known)


class Aggregate(_Function):
    """Calls over the rows, behind the key."""

    def __init__(self, calls: list[list[str]]) -> None:
        self.calls = calls

    def results(self, key: Row, context: Any, elements: list[Row]) -> Iterator[Any]:
        yield (*key, *(self._value(call, column, elements) for call, column, _ in self.calls))

    @staticmethod
    def _value(call: str, column: str, rows: list[Row]) -> Any:
        if column == "*":
            return len(rows)
        known = [row[column] for row in rows if row[column] is not None]
        if call == "count":
            return len(known)
        if not known:
            return None
        if call == "avg":
            return sum(known) / len(known)
        return ",".join(map(str, known)) if call == "listagg" else _reduced(call, known)


class Emit(_Function):
    """The rows themselves, or their number behind the key."""

    def __init__(self, emit: str, n: int = 0, column: str = "") -> None:
        self.emit, self.n, self.column = emit, n, column

    def results(self, key: Row, context: Any, elements: list[Row]) -> Iterator[Any]:
        match self.emit:
            case "all":
                yield from elements
            case "first" | "last":
                yield from elements[:1] if self.emit == "first" else elements[-1:]
            case "count":
                yield (*key, len(elements))
            case "top":
                yield from sorted(elements, key=self._rank)[: self.n]

    def _rank(self, row: Row) -> Any:
        value = row[self.column]
        others = [(v is not None, v) for name, v in row.as_dict().items() if name != self.column]
        return (value is None, 0 if value is None else -value, others)


class Counting(_Function):
    """How often the window and the key have fired, behind the key and the number of rows."""

    def __init__(self, window_state: bool) -> None:
        self.window_state = window_state
        self.firings = ValueStateDescriptor("firings")

    def results(self, key: Row, context: Any, elements: list[Row]) -> Iterator[Any]:
        of_key = self._count(context.global_state())
        of_window = self._count(context.window_state()) if self.window_state else None
        yield (*key, len(elements), of_window, of_key) if self.window_state else (*key, len(elements), of_key)

    def _count(self, store: Any) -> int:
        state = store.get_state(self.firings)
        state.update((state.value() or 0) + 1)
        count: int = state.value()
        return count

    def clear(self, context: Any) -> None:
        if self.window_state:
            context.window_state().get_state(self.firings).clear()


class _Keyed(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterable[Any]:
        assert isinstance(self, _Function)
        return self.results(key if isinstance(key, Row) else Row(key), context, list(elements))


class _All(ProcessAllWindowFunction):
    def process(self, context: Any, elements: Iterable[Any]) -> Iterable[Any]:
        assert isinstance(self, _Function)
        return self.results(Row(), context, list(elements))


class KeyedReduce(Reduce, _Keyed):
    """With a key."""


class KeyedAggregate(Aggregate, _Keyed):
    """With a key."""


class KeyedEmit(Emit, _Keyed):
    """With a key."""


class KeyedCounting(Counting, _Keyed):
    """With a key."""


class AllReduce(Reduce, _All):
    """Without one."""


class AllAggregate(Aggregate, _All):
    """Without one."""


class AllEmit(Emit, _All):
    """Without one."""


class AllCounting(Counting, _All):
    """Without one."""

"""Flink's window operator over the rows of one key: the twin, for Python classes, of the kernel in Java."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .contexts import AssignerContext, FunctionContext, MergeContext, Moment, TimerContext
from .functions import Evictor, ProcessAllWindowFunction, ProcessWindowFunction, TimestampedValue
from .keys import NEVER, Kept, KeyState
from .merging import add_window
from .rows import result_rows
from .triggers import Trigger, TriggerResult
from .windows import MAX_TIME, MIN_TIME, GlobalWindow, MergingWindowAssigner, WindowAssigner

SHIFT = 70_000_000_000_000
"""Added to Flink's times where Spark's watermark is compared with them."""

END = 1_000_000_000_000_000
"""Spark's watermark when all input has ended."""

_PARTITION_SHIFT = 40


@dataclass(frozen=True)
class Ttls:
    """How long, in milliseconds, each state is kept after it was written last; 0: for ever."""

    contents: int
    merged: int
    trigger: int
    window_state: int
    global_state: int

    def longest(self) -> int:
        """The longest; 0: for ever."""
        each = (self.contents, self.merged, self.trigger, self.window_state, self.global_state)
        return 0 if 0 in each else max(each)


@dataclass(frozen=True)
class Timing:
    """What brings something about besides rows: ``clock``, ``events`` (the watermark).

    ``ordered``: rows come before Spark's watermark, not behind it.  ``has_watermark``: rows carry Flink's.
    """

    clock: bool
    events: bool
    ordered: bool
    has_watermark: bool

    @property
    def in_event_time(self) -> bool:
        """Whether Spark's timers are those of event time: it has either these or those of the clock."""
        return self.events and not self.clock


@dataclass(frozen=True)
class Arrival:
    """A row as it arrives: its time and own gap (ms), its values, its place, and Flink's watermark then."""

    time: int | None
    gap: int | None
    values: tuple[Any, ...]
    sequence: int
    watermark: int | None


@dataclass(frozen=True)
class Emitted:
    """A row that comes out: of a window (``bounds`` in ms), or one that came too late.

    ``cause_time`` and ``cause``: what brought it about, the time of a timer and -1, or a watermark and a row.
    """

    values: tuple[Any, ...] | None
    bounds: tuple[int, int] | None
    firings: tuple[int, int] | None
    late: tuple[Any, ...] | None
    sequence: int
    watermark: int | None
    cause_time: int
    cause: int


@dataclass(frozen=True)
class Operator:
    """The parts of a window operator.

    ``names``: the columns of results; ``row``: how the function and the others see a row's values.
    """

    assigner: WindowAssigner
    trigger: Trigger
    evictor: Evictor | None
    function: ProcessWindowFunction | ProcessAllWindowFunction
    names: Sequence[str]
    row: Callable[[tuple[Any, ...]], Any]
    lateness: int
    late: bool
    counts: bool
    ttls: Ttls
    timing: Timing

    @property
    def merges(self) -> bool:
        """Whether windows merge."""
        return isinstance(self.assigner, MergingWindowAssigner)


class KeyRun:
    """One key while its rows and timers are worked on."""

    def __init__(self, operator: Operator, own: KeyState, clock: int, spark_watermark: int) -> None:
        self.operator = operator
        self.own = own
        self.moment = Moment(clock)
        self.moment.watermark = self.own.watermark
        self.emitted: list[Emitted] = []
        self.before = self.own.scheduled
        timing = operator.timing
        knows = timing.events or timing.has_watermark
        self.at_batch = _flinks(spark_watermark) if knows else MIN_TIME
        self._forget_expired()
        if self.own.lateness != operator.lateness:
            self._move_cleanups()
        if not timing.ordered:
            self._advance(self.at_batch)
        self._advance_clock()

    # Rows and timers

    def take(self, arrivals: list[Arrival]) -> None:
        """Work on a batch's rows."""
        arrivals.sort(key=lambda each: each.sequence)
        by_row = (
            self.operator.timing.has_watermark
            and arrivals[0].sequence >> _PARTITION_SHIFT == arrivals[-1].sequence >> _PARTITION_SHIFT
        )
        for each in arrivals:
            if by_row and each.watermark is not None:
                self._advance(each.watermark)
            self._accept(each)
        self._advance(self.at_batch)

    def expire(self) -> None:
        """Work on what Spark has called back for."""
        self.own.scheduled = self.before = NEVER
        self._advance(self.at_batch)

    def _advance(self, to: int) -> None:
        if to <= self.moment.watermark:
            return
        self.moment.watermark = to
        for time, window in self._due(self.own.event_timers, to):
            self._caused_by_timer(time)
            self._on_timer(time, window, True)

    def _advance_clock(self) -> None:
        for time, window in self._due(self.own.clock_timers, self.moment.clock):
            self._caused_by_timer(self.moment.watermark)
            self._on_timer(time, window, False)

    @staticmethod
    def _due(timers: set[tuple[int, Any]], to: int) -> Iterable[tuple[int, Any]]:
        while timers:
            first = min(timers)
            if first[0] > to:
                return
            timers.remove(first)
            yield first

    def _caused_by_timer(self, time: int) -> None:
        self._cause_time, self._cause = time, -1
        self._sequence = _place(time)

    def _on_timer(self, time: int, window: Any, in_event_time: bool) -> None:
        operator = self.operator
        if operator.merges and window not in self.own.merged:
            return  # of a window that has gone
        on_time = operator.trigger.on_event_time if in_event_time else operator.trigger.on_processing_time
        self._act(on_time(time, window, self._timers(window)), window)
        if in_event_time == operator.assigner.is_event_time() and time == self._cleanup_time(window):
            self._clear_all(window)

    def _accept(self, arrival: Arrival) -> None:
        operator, moment = self.operator, self.moment
        time = MIN_TIME if arrival.time is None else arrival.time
        self._cause_time, self._cause = moment.watermark, arrival.sequence
        self._sequence = _place(moment.watermark) if operator.timing.events else arrival.sequence
        row = operator.row(arrival.values)
        event_time = operator.assigner.is_event_time()
        skipped = True
        for assigned in operator.assigner.assign_windows(row, time, AssignerContext(moment, arrival.gap or 0)):
            window = self._merge(assigned) if operator.merges else assigned
            if event_time and self._cleanup_time(window) <= moment.watermark:
                self.own.merged.pop(window, None)
                continue
            skipped = False
            self._add(window, (arrival.time, arrival.values))
            self._act(operator.trigger.on_element(row, time, window, self._timers(window)), window)
            self._register_cleanup(window)
        if skipped and operator.late and event_time and _plus(time, operator.lateness) <= moment.watermark:
            at = None if moment.watermark == MIN_TIME else moment.watermark
            self.emitted.append(
                Emitted(None, None, None, arrival.values, arrival.sequence, at, moment.watermark, arrival.sequence)
            )

    def _merge(self, added: Any) -> Any:
        self.own.merged_at = self.moment.clock
        assigner = self.operator.assigner
        assert isinstance(assigner, MergingWindowAssigner)

        def merged(result: Any, windows: Sequence[Any], target: Any, sources: Sequence[Any]) -> None:
            self.operator.trigger.on_merge(result, MergeContext(self.own, self.moment, result, windows))
            for window in windows:
                self.operator.trigger.clear(window, self._timers(window))
                self._cleanups().discard((self._cleanup_time(window), window))
            for source in sources:
                found = self.own.contents.pop(source, None)
                if found is not None:
                    into = self.own.contents.setdefault(target, Kept([], 0))
                    into.value.extend(found.value)
                    into.written_at = self.moment.clock

        return add_window(added, self.own.merged, assigner, merged)

    # Firing

    def _timers(self, window: Any) -> TimerContext:
        return TimerContext(self.own, self.moment, window)

    def _act(self, result: TriggerResult, window: Any) -> None:
        if result.is_fire():
            self._fire(window)
        if result.is_purge():
            self.own.contents.pop(self._held(window), None)

    def _held(self, window: Any) -> Any:
        return self.own.merged[window] if self.operator.merges else window

    def _add(self, window: Any, element: tuple[int | None, tuple[Any, ...]]) -> None:
        contents = self.own.contents.setdefault(self._held(window), Kept([], 0))
        contents.value.append(element)
        contents.written_at = self.moment.clock

    def _fire(self, window: Any) -> None:
        operator, held = self.operator, self._held(window)
        contents = self.own.contents.get(held)
        if contents is None or not contents.value:
            return
        if operator.evictor is None:
            self._emit(window, [operator.row(values) for _, values in contents.value])
            return
        elements: list[TimestampedValue] = [
            _Kept(operator.row(values), time, (time, values)) for time, values in contents.value
        ]
        context = self._timers(window)
        operator.evictor.evict_before(elements, len(elements), window, context)
        self._emit(window, [element.get_value() for element in elements])
        operator.evictor.evict_after(elements, len(elements), window, context)
        contents.value = [element.kept for element in elements if isinstance(element, _Kept)]
        contents.written_at = self.moment.clock
        if not elements:
            del self.own.contents[held]

    def _emit(self, window: Any, elements: list[Any]) -> None:
        function = self.operator.function
        context = FunctionContext(self.own, self.moment, window, self.operator.merges)
        firings = self._firings(window) if self.operator.counts else None
        if isinstance(function, ProcessAllWindowFunction):
            results = function.process(context, elements)
        else:
            results = function.process(self.own.key, context, elements)
        bounds = None if isinstance(window, GlobalWindow) else (window.start, window.end)
        at = self._cause_time - 1 if self._cause < 0 and self._cause_time > MIN_TIME else self._cause_time
        passed = None if at == MIN_TIME else at
        for values in result_rows(results, self.operator.names):
            emitted = Emitted(values, bounds, firings, None, self._sequence, passed, self._cause_time, self._cause)
            self.emitted.append(emitted)

    def _firings(self, window: Any) -> tuple[int, int]:
        for kept in (self.own.firings.setdefault(window, Kept(0, 0)), self.own.key_firings):
            kept.value += 1
            kept.written_at = self.moment.clock
        return self.own.firings[window].value, self.own.key_firings.value

    # The end of windows

    def _clear_all(self, window: Any) -> None:
        self.own.contents.pop(self._held(window), None)
        self.operator.trigger.clear(window, self._timers(window))
        self.operator.function.clear(FunctionContext(self.own, self.moment, window, self.operator.merges))
        for of_window in (self.own.triggers, self.own.windows, self.own.firings, self.own.merged):
            of_window.pop(window, None)

    def _cleanup_time(self, window: Any) -> int:
        end: int = window.max_timestamp()
        return _plus(end, self.operator.lateness) if self.operator.assigner.is_event_time() else end

    def _cleanups(self) -> set[tuple[int, Any]]:
        return self.own.event_timers if self.operator.assigner.is_event_time() else self.own.clock_timers

    def _register_cleanup(self, window: Any) -> None:
        time = self._cleanup_time(window)
        if time != MAX_TIME:
            self._cleanups().add((time, window))

    def _move_cleanups(self) -> None:
        """Let windows end by the lateness that is asked for now."""
        self.own.lateness = self.operator.lateness
        held = self.own.merged if self.operator.merges else self.own.contents
        for window in {*held, *self.own.triggers, *self.own.windows}:
            if self.operator.assigner.is_event_time() and self._cleanup_time(window) <= self.own.watermark:
                self._clear_all(window)
            else:
                self._register_cleanup(window)

    def _forget_expired(self) -> None:
        """Drop what is older than its TTL: as if it had never been written."""
        own, ttls, clock = self.own, self.operator.ttls, self.moment.clock
        of_windows = ((own.contents, ttls.contents), (own.triggers, ttls.trigger), (own.windows, ttls.window_state),
                      (own.firings, ttls.window_state))  # fmt: skip
        for kept, ttl in of_windows:
            for window in [window for window, each in kept.items() if _is_over(each.written_at, ttl, clock)]:
                del kept[window]
        if _is_over(own.merged_at, ttls.merged, clock):
            own.merged.clear()
        if _is_over(own.shared.written_at, ttls.global_state, clock):
            own.shared = Kept({}, 0)
        if _is_over(own.key_firings.written_at, ttls.global_state, clock):
            own.key_firings = Kept(0, 0)

    def end(self) -> None:
        """Leave ``own`` as it is to be kept.  ``own.scheduled`` is when Spark is to call back."""
        own = self.own
        for kept in (own.triggers, own.windows):
            for window in [window for window, each in kept.items() if not each.value]:
                del kept[window]
        own.watermark = self.moment.watermark
        own.scheduled = self._next_call()

    def _next_call(self) -> int:
        """In Spark's own time."""
        own = self.own
        if self.operator.timing.in_event_time:
            # a timer that was set behind the watermark comes when that moves again
            due = min(max(min(own.event_timers)[0], own.watermark + 1), END - SHIFT) if own.event_timers else NEVER
            return due if due == NEVER else due + SHIFT
        if own.event_timers:
            return self.moment.clock + 1  # nothing but the next batch tells whether the watermark has moved
        return min(own.clock_timers)[0] if own.clock_timers else NEVER


class _Kept(TimestampedValue):
    """A row that an evictor sees, and how it is kept."""

    __slots__ = ("kept",)

    def __init__(self, value: Any, timestamp: int | None, kept: Any) -> None:
        super().__init__(value, timestamp)
        self.kept = kept


def _flinks(spark_watermark: int) -> int:
    return MAX_TIME if spark_watermark >= END else spark_watermark - SHIFT


def _place(time: int) -> int:
    return max(0, min(time, END - SHIFT) + SHIFT)


def _plus(time: int, lateness: int) -> int:
    return min(time + lateness, MAX_TIME)


def _is_over(written_at: int, ttl: int, now: int) -> bool:
    return ttl > 0 and written_at + ttl <= now

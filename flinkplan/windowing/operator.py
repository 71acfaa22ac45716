"""Flink's window operator for the rows of one key, for windows with Python classes: the counterpart of the Java
kernel.
"""

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
"""The offset between Flink's times and Spark's watermark."""

END = 1_000_000_000_000_000
"""Spark's watermark when all input has ended."""

_PARTITION_SHIFT = 40


@dataclass(frozen=True)
class Ttls:
    """The TTL of each state in milliseconds since the last write; 0 means for ever."""

    contents: int
    merged: int
    trigger: int
    window_state: int
    global_state: int

    def longest(self) -> int:
        """The longest TTL; 0 means for ever."""
        ttls = (self.contents, self.merged, self.trigger, self.window_state, self.global_state)
        return 0 if 0 in ttls else max(ttls)


@dataclass(frozen=True)
class Timing:
    """What besides rows can trigger the operator: the clock (``clock``) and the watermark (``events``).

    ``ordered`` says that rows arrive before Spark's watermark instead of after it, ``has_watermark`` that rows carry
    Flink's watermark.
    """

    clock: bool
    events: bool
    ordered: bool
    has_watermark: bool

    @property
    def in_event_time(self) -> bool:
        """Whether Spark's timers are of event time; Spark has timers either of event time or of processing time."""
        return self.events and not self.clock


@dataclass(frozen=True)
class Arrival:
    """An input row: its time and session gap (ms), its values, its sequence number, and Flink's watermark before it."""

    time: int | None
    gap: int | None
    values: tuple[Any, ...]
    sequence: int
    watermark: int | None


@dataclass(frozen=True)
class Emitted:
    """An output row: a result of a window (``bounds`` in ms), or an input row that was too late.

    ``cause_time`` and ``cause`` are the time of the timer that caused it and -1, or the watermark and the sequence
    number of the row that caused it.
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

    ``names`` are the columns of results; ``row`` converts a row's values for the parts; ``late`` says whether late rows
    are emitted, ``counts`` whether firings are counted.
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
    """The processing of the rows and timers of one key."""

    def __init__(self, operator: Operator, state: KeyState, clock: int, spark_watermark: int) -> None:
        self.operator = operator
        self.state = state
        self.moment = Moment(clock)
        self.moment.watermark = self.state.watermark
        self.emitted: list[Emitted] = []
        self.before = self.state.scheduled
        timing = operator.timing
        knows = timing.events or timing.has_watermark
        self.at_batch = _flink_time(spark_watermark) if knows else MIN_TIME
        self._forget_expired()
        if self.state.lateness != operator.lateness:
            self._move_cleanups()
        if not timing.ordered:
            self._advance(self.at_batch)
        self._advance_clock()

    # Rows and timers

    def take(self, arrivals: list[Arrival]) -> None:
        """Process the rows of a batch."""
        arrivals.sort(key=lambda arrival: arrival.sequence)
        by_row = (
            self.operator.timing.has_watermark
            and arrivals[0].sequence >> _PARTITION_SHIFT == arrivals[-1].sequence >> _PARTITION_SHIFT
        )
        for arrival in arrivals:
            if by_row and arrival.watermark is not None:
                self._advance(arrival.watermark)
            self._accept(arrival)
        self._advance(self.at_batch)

    def expire(self) -> None:
        """Process an expired timer of Spark's."""
        self.state.scheduled = self.before = NEVER
        self._advance(self.at_batch)

    def _advance(self, to: int) -> None:
        if to <= self.moment.watermark:
            return
        self.moment.watermark = to
        for time, window in self._due(self.state.event_timers, to):
            self._caused_by_timer(time)
            self._on_timer(time, window, True)

    def _advance_clock(self) -> None:
        for time, window in self._due(self.state.clock_timers, self.moment.clock):
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
        self._sequence = _position(time)

    def _on_timer(self, time: int, window: Any, in_event_time: bool) -> None:
        operator = self.operator
        if operator.merges and window not in self.state.merged:
            return  # the window has been merged into another one
        on_time = operator.trigger.on_event_time if in_event_time else operator.trigger.on_processing_time
        self._act(on_time(time, window, self._timers(window)), window)
        if in_event_time == operator.assigner.is_event_time() and time == self._cleanup_time(window):
            self._clear_all(window)

    def _accept(self, arrival: Arrival) -> None:
        operator, moment = self.operator, self.moment
        time = MIN_TIME if arrival.time is None else arrival.time
        self._cause_time, self._cause = moment.watermark, arrival.sequence
        self._sequence = _position(moment.watermark) if operator.timing.events else arrival.sequence
        row = operator.row(arrival.values)
        event_time = operator.assigner.is_event_time()
        skipped = True
        for assigned in operator.assigner.assign_windows(row, time, AssignerContext(moment, arrival.gap or 0)):
            window = self._merge(assigned) if operator.merges else assigned
            if event_time and self._cleanup_time(window) <= moment.watermark:
                self.state.merged.pop(window, None)
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
        self.state.merged_at = self.moment.clock
        assigner = self.operator.assigner
        assert isinstance(assigner, MergingWindowAssigner)

        def merged(result: Any, windows: Sequence[Any], target: Any, sources: Sequence[Any]) -> None:
            self.operator.trigger.on_merge(result, MergeContext(self.state, self.moment, result, windows))
            for window in windows:
                self.operator.trigger.clear(window, self._timers(window))
                self._cleanups().discard((self._cleanup_time(window), window))
            for source in sources:
                contents = self.state.contents.pop(source, None)
                if contents is not None:
                    target_contents = self.state.contents.setdefault(target, Kept([], 0))
                    target_contents.value.extend(contents.value)
                    target_contents.written_at = self.moment.clock

        return add_window(added, self.state.merged, assigner, merged)

    # Firing

    def _timers(self, window: Any) -> TimerContext:
        return TimerContext(self.state, self.moment, window)

    def _act(self, result: TriggerResult, window: Any) -> None:
        if result.is_fire():
            self._fire(window)
        if result.is_purge():
            self.state.contents.pop(self._state_window(window), None)

    def _state_window(self, window: Any) -> Any:
        return self.state.merged[window] if self.operator.merges else window

    def _add(self, window: Any, element: tuple[int | None, tuple[Any, ...]]) -> None:
        contents = self.state.contents.setdefault(self._state_window(window), Kept([], 0))
        contents.value.append(element)
        contents.written_at = self.moment.clock

    def _fire(self, window: Any) -> None:
        operator, held = self.operator, self._state_window(window)
        contents = self.state.contents.get(held)
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
            del self.state.contents[held]

    def _emit(self, window: Any, elements: list[Any]) -> None:
        function = self.operator.function
        context = FunctionContext(self.state, self.moment, window, self.operator.merges)
        firings = self._firings(window) if self.operator.counts else None
        if isinstance(function, ProcessAllWindowFunction):
            results = function.process(context, elements)
        else:
            results = function.process(self.state.key, context, elements)
        bounds = None if isinstance(window, GlobalWindow) else (window.start, window.end)
        at = self._cause_time - 1 if self._cause < 0 and self._cause_time > MIN_TIME else self._cause_time
        passed = None if at == MIN_TIME else at
        for values in result_rows(results, self.operator.names):
            emitted = Emitted(values, bounds, firings, None, self._sequence, passed, self._cause_time, self._cause)
            self.emitted.append(emitted)

    def _firings(self, window: Any) -> tuple[int, int]:
        for kept in (self.state.firings.setdefault(window, Kept(0, 0)), self.state.key_firings):
            kept.value += 1
            kept.written_at = self.moment.clock
        return self.state.firings[window].value, self.state.key_firings.value

    # The end of windows

    def _clear_all(self, window: Any) -> None:
        self.state.contents.pop(self._state_window(window), None)
        self.operator.trigger.clear(window, self._timers(window))
        self.operator.function.clear(FunctionContext(self.state, self.moment, window, self.operator.merges))
        for by_window in (self.state.triggers, self.state.windows, self.state.firings, self.state.merged):
            by_window.pop(window, None)

    def _cleanup_time(self, window: Any) -> int:
        end: int = window.max_timestamp()
        return _plus(end, self.operator.lateness) if self.operator.assigner.is_event_time() else end

    def _cleanups(self) -> set[tuple[int, Any]]:
        return self.state.event_timers if self.operator.assigner.is_event_time() else self.state.clock_timers

    def _register_cleanup(self, window: Any) -> None:
        time = self._cleanup_time(window)
        if time != MAX_TIME:
            self._cleanups().add((time, window))

    def _move_cleanups(self) -> None:
        """Register cleanup timers by the new allowed lateness."""
        self.state.lateness = self.operator.lateness
        held = self.state.merged if self.operator.merges else self.state.contents
        for window in {*held, *self.state.triggers, *self.state.windows}:
            if self.operator.assigner.is_event_time() and self._cleanup_time(window) <= self.state.watermark:
                self._clear_all(window)
            else:
                self._register_cleanup(window)

    def _forget_expired(self) -> None:
        """Drop state that is older than its TTL."""
        state, ttls, clock = self.state, self.operator.ttls, self.moment.clock
        states_by_window = (
            (state.contents, ttls.contents),
            (state.triggers, ttls.trigger),
            (state.windows, ttls.window_state),
            (state.firings, ttls.window_state),
        )
        for kept, ttl in states_by_window:
            for window in [window for window, entry in kept.items() if _is_expired(entry.written_at, ttl, clock)]:
                del kept[window]
        if _is_expired(state.merged_at, ttls.merged, clock):
            state.merged.clear()
        if _is_expired(state.shared.written_at, ttls.global_state, clock):
            state.shared = Kept({}, 0)
        if _is_expired(state.key_firings.written_at, ttls.global_state, clock):
            state.key_firings = Kept(0, 0)

    def end(self) -> None:
        """Finish the processing; ``state.scheduled`` is then the time of the timer to register in Spark."""
        state = self.state
        for kept in (state.triggers, state.windows):
            for window in [window for window, entry in kept.items() if not entry.value]:
                del kept[window]
        state.watermark = self.moment.watermark
        state.scheduled = self._next_call()

    def _next_call(self) -> int:
        """The time of the next timer, as a time of Spark's."""
        state = self.state
        if self.operator.timing.in_event_time:
            # a timer that was registered for a time before the watermark fires when the watermark advances again
            due = (
                min(max(min(state.event_timers)[0], state.watermark + 1), END - SHIFT) if state.event_timers else NEVER
            )
            return due if due == NEVER else due + SHIFT
        if state.event_timers:
            return self.moment.clock + 1  # only the next batch shows whether the watermark has advanced
        return min(state.clock_timers)[0] if state.clock_timers else NEVER


class _Kept(TimestampedValue):
    """A row as an evictor sees it, with its form in the state."""

    __slots__ = ("kept",)

    def __init__(self, value: Any, timestamp: int | None, kept: Any) -> None:
        super().__init__(value, timestamp)
        self.kept = kept


def _flink_time(spark_watermark: int) -> int:
    return MAX_TIME if spark_watermark >= END else spark_watermark - SHIFT


def _position(time: int) -> int:
    return max(0, min(time, END - SHIFT) + SHIFT)


def _plus(time: int, lateness: int) -> int:
    return min(time + lateness, MAX_TIME)


def _is_expired(written_at: int, ttl: int, now: int) -> bool:
    return ttl > 0 and written_at + ttl <= now

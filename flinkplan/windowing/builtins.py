"""Flink's own assigners, triggers and evictors in Python, for windows of which another part is a user's Python class.

The class of its name implements a plan's trigger or evictor, and that of its kind an assigner: ``TumblingWindows``.
"""

from __future__ import annotations

from typing import Any

from .functions import Evictor, EvictorContext, TimestampedValue
from .state import ReducingStateDescriptor, ValueStateDescriptor
from .triggers import OnMergeContext, Trigger, TriggerContext, TriggerResult
from .windows import MAX_TIME, MIN_TIME, GlobalWindow, MergingWindowAssigner, TimeWindow, WindowAssigner

CONTINUE, FIRE = TriggerResult.CONTINUE, TriggerResult.FIRE


# ---------------------------------------------------------------- assigners


class SlidingWindows(WindowAssigner):
    """Windows of one size, a new one each slide."""

    def __init__(self, size: int, slide: int, offset: int, event_time: bool) -> None:
        self.size, self.slide, self.offset, self.event_time = size, slide, offset, event_time

    def assign_windows(self, element: Any, timestamp: int, context: Any) -> list[TimeWindow]:
        time = timestamp if self.event_time else context.get_current_processing_time()
        last = TimeWindow.get_window_start_with_offset(time, self.offset, self.slide)
        return [TimeWindow(start, start + self.size) for start in range(last, time - self.size, -self.slide)]

    def is_event_time(self) -> bool:
        return self.event_time


class TumblingWindows(SlidingWindows):
    """Windows of one size, side by side."""

    def __init__(self, size: int, offset: int, event_time: bool) -> None:
        super().__init__(size, size, offset, event_time)


class SessionWindows(MergingWindowAssigner):
    """Sessions with the gap that comes with each row."""

    def __init__(self, event_time: bool) -> None:
        self.event_time = event_time

    def assign_windows(self, element: Any, timestamp: int, context: Any) -> list[TimeWindow]:
        time = timestamp if self.event_time else context.get_current_processing_time()
        if context.gap <= 0:
            raise ValueError("Dynamic session time gap must satisfy 0 < gap")
        return [TimeWindow(time, time + context.gap)]

    def is_event_time(self) -> bool:
        return self.event_time


class GlobalWindows(WindowAssigner):
    """All rows of a key in one window."""

    def __init__(self, event_time: bool = False) -> None:
        self.event_time = event_time

    def assign_windows(self, element: Any, timestamp: int, context: Any) -> list[GlobalWindow]:
        return [GlobalWindow.get()]

    def is_event_time(self) -> bool:
        return self.event_time


# ---------------------------------------------------------------- triggers


class _NoOpTrigger(Trigger):
    """Continues at every call; subclasses override what they react to."""

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        return CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        return CONTINUE

    def on_processing_time(self, time: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        return CONTINUE

    def clear(self, window: Any, ctx: TriggerContext) -> None:
        pass


class NeverTrigger(_NoOpTrigger):
    """Never fires."""


class EventTimeTrigger(_NoOpTrigger):
    """When the watermark reaches the window's end."""

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        if window.max_timestamp() <= ctx.get_current_watermark():
            return FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        return CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        return FIRE if time == window.max_timestamp() else CONTINUE

    def on_merge(self, window: Any, ctx: OnMergeContext) -> None:
        if window.max_timestamp() > ctx.get_current_watermark():
            ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window: Any, ctx: TriggerContext) -> None:
        ctx.delete_event_time_timer(window.max_timestamp())


class ProcessingTimeTrigger(_NoOpTrigger):
    """When the clock reaches the window's end."""

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        ctx.register_processing_time_timer(window.max_timestamp())
        return CONTINUE

    def on_processing_time(self, time: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        return FIRE

    def on_merge(self, window: Any, ctx: OnMergeContext) -> None:
        if window.max_timestamp() > ctx.get_current_processing_time():
            ctx.register_processing_time_timer(window.max_timestamp())

    def clear(self, window: Any, ctx: TriggerContext) -> None:
        ctx.delete_processing_time_timer(window.max_timestamp())


class EndOfStreamTrigger(_NoOpTrigger):
    """When all input has ended."""

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        ctx.register_event_time_timer(MAX_TIME)
        return CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        return FIRE if time == MAX_TIME else CONTINUE


class CountTrigger(_NoOpTrigger):
    """After a number of rows."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.rows = ReducingStateDescriptor("count", lambda a, b: a + b)

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        rows = ctx.get_partitioned_state(self.rows)
        rows.add(1)
        if rows.get() >= self.count:
            rows.clear()
            return FIRE
        return CONTINUE

    def on_merge(self, window: Any, ctx: OnMergeContext) -> None:
        ctx.merge_partitioned_state(self.rows)

    def clear(self, window: Any, ctx: TriggerContext) -> None:
        ctx.get_partitioned_state(self.rows).clear()


class ContinuousTrigger(_NoOpTrigger):
    """At each interval of event time or of the clock, and at the window's end."""

    def __init__(self, interval: int, event_time: bool) -> None:
        self.interval, self.event_time = interval, event_time
        self.next = ReducingStateDescriptor("fire-time", min)

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        if self.event_time:
            if window.max_timestamp() <= ctx.get_current_watermark():
                return FIRE
            ctx.register_event_time_timer(window.max_timestamp())
        if ctx.get_partitioned_state(self.next).get() is None:
            now = timestamp if self.event_time else ctx.get_current_processing_time()
            self._register_next(now - _remainder(now, self.interval), window, ctx)
        return CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        return self._on_time(time, window, ctx) if self.event_time else CONTINUE

    def on_processing_time(self, time: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        return CONTINUE if self.event_time else self._on_time(time, window, ctx)

    def _on_time(self, time: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        if time == window.max_timestamp():
            return FIRE
        due = ctx.get_partitioned_state(self.next)
        if due.get() != time:
            return CONTINUE
        due.clear()
        is_global = isinstance(window, GlobalWindow)
        if not (self.event_time and is_global and ctx.get_current_watermark() == MAX_TIME):
            self._register_next(time, window, ctx)  # else input has ended: a global window fires for the last time
        return FIRE

    def _register_next(self, time: int, window: Any, ctx: TriggerContext) -> None:
        due = min(time + self.interval, window.max_timestamp())
        ctx.get_partitioned_state(self.next).add(due)
        self._register(due, ctx)

    def _register(self, time: int, ctx: TriggerContext) -> None:
        if self.event_time:
            ctx.register_event_time_timer(time)
        else:
            ctx.register_processing_time_timer(time)

    def on_merge(self, window: Any, ctx: OnMergeContext) -> None:
        ctx.merge_partitioned_state(self.next)
        due = ctx.get_partitioned_state(self.next).get()
        if due is not None:
            self._register(due, ctx)

    def clear(self, window: Any, ctx: TriggerContext) -> None:
        due = ctx.get_partitioned_state(self.next)
        if due.get() is not None:
            if self.event_time:
                ctx.delete_event_time_timer(due.get())
            else:
                ctx.delete_processing_time_timer(due.get())
            due.clear()


class ContinuousEventTimeTrigger(ContinuousTrigger):
    """At each interval of event time, and at the window's end."""

    def __init__(self, interval: int) -> None:
        super().__init__(interval, True)


class ContinuousProcessingTimeTrigger(ContinuousTrigger):
    """At each interval of the clock."""

    def __init__(self, interval: int) -> None:
        super().__init__(interval, False)


def _remainder(number: int, divisor: int) -> int:
    """Java's ``%``: the result has the sign of ``number``."""
    return number % divisor if number >= 0 else -(-number % divisor)


class _NestingTrigger(Trigger):
    """A trigger with a nested one."""

    def __init__(self, nested: Trigger) -> None:
        self.nested = nested

    def clear(self, window: Any, ctx: TriggerContext) -> None:
        self.nested.clear(window, ctx)


class PurgingTrigger(_NestingTrigger):
    """As the nested trigger, but firings drop the window's rows."""

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        return self._purging(self.nested.on_element(element, timestamp, window, ctx))

    def on_event_time(self, time: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        return self._purging(self.nested.on_event_time(time, window, ctx))

    def on_processing_time(self, time: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        return self._purging(self.nested.on_processing_time(time, window, ctx))

    @staticmethod
    def _purging(result: TriggerResult) -> TriggerResult:
        return TriggerResult.FIRE_AND_PURGE if result.is_fire() else result

    def on_merge(self, window: Any, ctx: OnMergeContext) -> None:
        self.nested.on_merge(window, ctx)


class ProcessingTimeoutTrigger(_NestingTrigger):
    """As the nested trigger, and after a timeout by the clock."""

    def __init__(self, nested: Trigger, interval: int, resets: bool, clears: bool) -> None:
        super().__init__(nested)
        self.interval, self.resets, self.clears = interval, resets, clears
        self.timeout = ValueStateDescriptor("timeout")

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        result = self.nested.on_element(element, timestamp, window, ctx)
        if result.is_fire():
            self.clear(window, ctx)
            return result
        timeout = ctx.get_partitioned_state(self.timeout)
        if timeout.value() is not None and self.resets:
            ctx.delete_processing_time_timer(timeout.value())
            timeout.clear()
        if timeout.value() is None:
            timeout.update(ctx.get_current_processing_time() + self.interval)
            ctx.register_processing_time_timer(timeout.value())
        return result

    def on_event_time(self, time: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        return self._fired(self.nested.on_event_time(time, window, ctx), window, ctx)

    def on_processing_time(self, time: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        return self._fired(self.nested.on_processing_time(time, window, ctx), window, ctx)

    def _fired(self, result: TriggerResult, window: Any, ctx: TriggerContext) -> TriggerResult:
        if self.clears:
            self.clear(window, ctx)
        return TriggerResult.FIRE_AND_PURGE if result.is_purge() else FIRE

    def clear(self, window: Any, ctx: TriggerContext) -> None:
        timeout = ctx.get_partitioned_state(self.timeout)
        if timeout.value() is not None:
            ctx.delete_processing_time_timer(timeout.value())
            timeout.clear()
        self.nested.clear(window, ctx)


# ---------------------------------------------------------------- evictors


class _BuiltInEvictor(Evictor):
    def __init__(self, after: bool) -> None:
        self.after = after

    def evict_before(self, elements: list[TimestampedValue], size: int, window: Any, ctx: EvictorContext) -> None:
        if not self.after:
            self.evict(elements)

    def evict_after(self, elements: list[TimestampedValue], size: int, window: Any, ctx: EvictorContext) -> None:
        if self.after:
            self.evict(elements)

    def evict(self, elements: list[TimestampedValue]) -> None:
        raise NotImplementedError


class CountEvictor(_BuiltInEvictor):
    """Keeps the last rows to arrive."""

    def __init__(self, count: int, after: bool) -> None:
        super().__init__(after)
        self.count = count

    def evict(self, elements: list[TimestampedValue]) -> None:
        del elements[: max(0, len(elements) - self.count)]


class TimeEvictor(_BuiltInEvictor):
    """Keeps the rows that are less than ``size`` milliseconds before the latest one."""

    def __init__(self, size: int, after: bool) -> None:
        super().__init__(after)
        self.size = size

    def evict(self, elements: list[TimestampedValue]) -> None:
        if elements and elements[0].get_timestamp() != MIN_TIME:
            latest = max(element.get_timestamp() for element in elements)
            elements[:] = [element for element in elements if element.get_timestamp() > latest - self.size]

"""When a window is handed to its function."""

from __future__ import annotations

from ..planner.sql.ast import stream_windows as w
from .sql import Duration, expression, millis


class Trigger:
    """Fires windows; made by the subclasses' methods."""

    def __init__(self, node: w.Trigger) -> None:
        self.node = node


class EventTimeTrigger(Trigger):
    """When the watermark reaches the window's end."""

    @classmethod
    def create(cls) -> Trigger:
        return cls(w.SimpleTrigger("event-time"))


class ProcessingTimeTrigger(Trigger):
    """When the clock reaches the window's end."""

    @classmethod
    def create(cls) -> Trigger:
        return cls(w.SimpleTrigger("processing-time"))


class NeverTrigger(Trigger):
    """Never; for global windows."""

    @classmethod
    def create(cls) -> Trigger:
        return cls(w.SimpleTrigger("never"))


class EndOfStreamTrigger(Trigger):
    """When all input has ended; for global windows."""

    @classmethod
    def create(cls) -> Trigger:
        return cls(w.SimpleTrigger("end-of-stream"))


class CountTrigger(Trigger):
    """After so many rows."""

    @classmethod
    def of(cls, window_size: int) -> Trigger:
        return cls(w.CountTrigger(window_size))


class ContinuousEventTimeTrigger(Trigger):
    """At each interval of event time, and at the window's end."""

    @classmethod
    def of(cls, interval: Duration) -> Trigger:
        return cls(w.ContinuousTrigger(millis(interval), True))


class ContinuousProcessingTimeTrigger(Trigger):
    """At each interval of the clock."""

    @classmethod
    def of(cls, interval: Duration) -> Trigger:
        return cls(w.ContinuousTrigger(millis(interval), False))


class DeltaTrigger(Trigger):
    """When ``delta``, an expression of the row of the last firing, ``a``, and a new one, ``b``, exceeds a threshold."""

    @classmethod
    def of(cls, threshold: float, delta: str) -> Trigger:
        return cls(w.DeltaTrigger(expression(delta), float(threshold)))


class PurgingTrigger(Trigger):
    """As another trigger, but firings drop the window's rows."""

    @classmethod
    def of(cls, nested_trigger: Trigger) -> Trigger:
        return cls(w.PurgingTrigger(nested_trigger.node))


class ProcessingTimeoutTrigger(Trigger):
    """As another trigger, and after some time by the clock."""

    @classmethod
    def of(
        cls,
        nested_trigger: Trigger,
        timeout: Duration,
        reset_timer_on_new_record: bool = False,
        should_clear_on_timeout: bool = True,
    ) -> Trigger:
        node = w.TimeoutTrigger(
            nested_trigger.node, millis(timeout), reset_timer_on_new_record, should_clear_on_timeout
        )
        return cls(node)

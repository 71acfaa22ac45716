"""When a window is handed to its function."""

from __future__ import annotations

from ..planner.sql.ast import stream_windows as w
from ..windowing import Trigger
from .python import python_class
from .sql import Duration, expression, millis


class DeclaredTrigger:
    """Fires windows; made by the subclasses' methods."""

    def __init__(self, node: w.Trigger) -> None:
        self.node = node


def trigger_node(trigger: DeclaredTrigger | Trigger, uses_clock: bool = False) -> w.Trigger:
    """A trigger as a spec has it; one of one's own may set timers of the clock as well."""
    return trigger.node if isinstance(trigger, DeclaredTrigger) else w.PythonTrigger(python_class(trigger), uses_clock)


class EventTimeTrigger(DeclaredTrigger):
    """When the watermark reaches the window's end."""

    @classmethod
    def create(cls) -> DeclaredTrigger:
        return cls(w.SimpleTrigger("event-time"))


class ProcessingTimeTrigger(DeclaredTrigger):
    """When the clock reaches the window's end."""

    @classmethod
    def create(cls) -> DeclaredTrigger:
        return cls(w.SimpleTrigger("processing-time"))


class NeverTrigger(DeclaredTrigger):
    """Never; for global windows."""

    @classmethod
    def create(cls) -> DeclaredTrigger:
        return cls(w.SimpleTrigger("never"))


class EndOfStreamTrigger(DeclaredTrigger):
    """When all input has ended; for global windows."""

    @classmethod
    def create(cls) -> DeclaredTrigger:
        return cls(w.SimpleTrigger("end-of-stream"))


class CountTrigger(DeclaredTrigger):
    """After so many rows."""

    @classmethod
    def of(cls, window_size: int) -> DeclaredTrigger:
        return cls(w.CountTrigger(window_size))


class ContinuousEventTimeTrigger(DeclaredTrigger):
    """At each interval of event time, and at the window's end."""

    @classmethod
    def of(cls, interval: Duration) -> DeclaredTrigger:
        return cls(w.ContinuousTrigger(millis(interval), True))


class ContinuousProcessingTimeTrigger(DeclaredTrigger):
    """At each interval of the clock."""

    @classmethod
    def of(cls, interval: Duration) -> DeclaredTrigger:
        return cls(w.ContinuousTrigger(millis(interval), False))


class DeltaTrigger(DeclaredTrigger):
    """When ``delta``, an expression of the row of the last firing, ``a``, and a new one, ``b``, exceeds a threshold."""

    @classmethod
    def of(cls, threshold: float, delta: str) -> DeclaredTrigger:
        return cls(w.DeltaTrigger(expression(delta), float(threshold)))


class PurgingTrigger(DeclaredTrigger):
    """As another trigger, but firings drop the window's rows."""

    @classmethod
    def of(cls, nested_trigger: DeclaredTrigger | Trigger) -> DeclaredTrigger:
        return cls(w.PurgingTrigger(trigger_node(nested_trigger)))


class ProcessingTimeoutTrigger(DeclaredTrigger):
    """As another trigger, and after some time by the clock."""

    @classmethod
    def of(
        cls,
        nested_trigger: DeclaredTrigger | Trigger,
        timeout: Duration,
        reset_timer_on_new_record: bool = False,
        should_clear_on_timeout: bool = True,
    ) -> DeclaredTrigger:
        node = w.TimeoutTrigger(
            trigger_node(nested_trigger), millis(timeout), reset_timer_on_new_record, should_clear_on_timeout
        )
        return cls(node)

"""Triggers, which decide when a window fires."""

from __future__ import annotations

from ..planner.sql.ast import stream_windows as w
from ..windowing import Trigger
from .python import python_class
from .sql import Duration, expression, millis


class DeclaredTrigger:
    """A built-in trigger, created by the methods of its subclasses."""

    def __init__(self, node: w.Trigger) -> None:
        self.node = node


def trigger_node(trigger: DeclaredTrigger | Trigger, uses_clock: bool = False) -> w.Trigger:
    """The syntax node of a trigger; ``uses_clock`` says that a user-defined one sets processing-time timers too."""
    return trigger.node if isinstance(trigger, DeclaredTrigger) else w.PythonTrigger(python_class(trigger), uses_clock)


class EventTimeTrigger(DeclaredTrigger):
    """Fires when the watermark reaches the window's end."""

    @classmethod
    def create(cls) -> DeclaredTrigger:
        return cls(w.SimpleTrigger("event-time"))


class ProcessingTimeTrigger(DeclaredTrigger):
    """Fires when the clock reaches the window's end."""

    @classmethod
    def create(cls) -> DeclaredTrigger:
        return cls(w.SimpleTrigger("processing-time"))


class NeverTrigger(DeclaredTrigger):
    """Never fires; for global windows."""

    @classmethod
    def create(cls) -> DeclaredTrigger:
        return cls(w.SimpleTrigger("never"))


class EndOfStreamTrigger(DeclaredTrigger):
    """Fires when all input has ended; for global windows."""

    @classmethod
    def create(cls) -> DeclaredTrigger:
        return cls(w.SimpleTrigger("end-of-stream"))


class CountTrigger(DeclaredTrigger):
    """Fires after a number of rows."""

    @classmethod
    def of(cls, window_size: int) -> DeclaredTrigger:
        return cls(w.CountTrigger(window_size))


class ContinuousEventTimeTrigger(DeclaredTrigger):
    """Fires at each interval of event time, and at the window's end."""

    @classmethod
    def of(cls, interval: Duration) -> DeclaredTrigger:
        return cls(w.ContinuousTrigger(millis(interval), True))


class ContinuousProcessingTimeTrigger(DeclaredTrigger):
    """Fires at each interval of processing time."""

    @classmethod
    def of(cls, interval: Duration) -> DeclaredTrigger:
        return cls(w.ContinuousTrigger(millis(interval), False))


class DeltaTrigger(DeclaredTrigger):
    """Fires when ``delta``, an expression of the row ``a`` of the last firing and a new row ``b``, exceeds a
    threshold."""

    @classmethod
    def of(cls, threshold: float, delta: str) -> DeclaredTrigger:
        return cls(w.DeltaTrigger(expression(delta), float(threshold)))


class PurgingTrigger(DeclaredTrigger):
    """Fires as another trigger and then removes the window's rows."""

    @classmethod
    def of(cls, nested_trigger: DeclaredTrigger | Trigger) -> DeclaredTrigger:
        return cls(w.PurgingTrigger(trigger_node(nested_trigger)))


class ProcessingTimeoutTrigger(DeclaredTrigger):
    """Fires as another trigger, and after a timeout in processing time."""

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

"""Triggers, which decide when a window fires."""

from __future__ import annotations

from typing import Any

from ..plan import specs
from ..planner.sql.ast import stream_windows as w
from ..windowing import Trigger
from .python import python_class
from .sql import Duration, expression, millis, window_arguments

__all__ = [
    "ContinuousEventTimeTrigger",
    "ContinuousProcessingTimeTrigger",
    "CountTrigger",
    "DeltaTrigger",
    "EndOfStreamTrigger",
    "EventTimeTrigger",
    "NeverTrigger",
    "ProcessingTimeTrigger",
    "ProcessingTimeoutTrigger",
    "PurgingTrigger",
]


class DeclaredTrigger:
    """Fires windows; constructed by the subclasses' methods, with the fields of the declaration of the same name."""

    def __init__(self, **fields: Any) -> None:
        declaration = getattr(specs.stream_windows, type(self).__name__)
        self.node: w.Trigger = w.DeclaredTrigger(declaration, window_arguments(fields))


def trigger_node(trigger: DeclaredTrigger | Trigger, uses_clock: bool = False) -> w.Trigger:
    """The syntax-tree node of a trigger; ``uses_clock``: a Python class sets timers of processing time as well."""
    return trigger.node if isinstance(trigger, DeclaredTrigger) else w.PythonTrigger(python_class(trigger), uses_clock)


class EventTimeTrigger(DeclaredTrigger):
    """Fires when the watermark reaches the window's end."""

    @classmethod
    def create(cls) -> DeclaredTrigger:
        return cls()


class ProcessingTimeTrigger(DeclaredTrigger):
    """Fires when the clock reaches the window's end."""

    @classmethod
    def create(cls) -> DeclaredTrigger:
        return cls()


class NeverTrigger(DeclaredTrigger):
    """Never fires; for global windows."""

    @classmethod
    def create(cls) -> DeclaredTrigger:
        return cls()


class EndOfStreamTrigger(DeclaredTrigger):
    """Fires when all input has ended; for global windows."""

    @classmethod
    def create(cls) -> DeclaredTrigger:
        return cls()


class CountTrigger(DeclaredTrigger):
    """After a number of rows."""

    @classmethod
    def of(cls, window_size: int) -> DeclaredTrigger:
        return cls(max_count=window_size)


class ContinuousEventTimeTrigger(DeclaredTrigger):
    """Fires at each interval of event time, and at the window's end."""

    @classmethod
    def of(cls, interval: Duration) -> DeclaredTrigger:
        return cls(interval=millis(interval))


class ContinuousProcessingTimeTrigger(DeclaredTrigger):
    """Fires at each interval of processing time."""

    @classmethod
    def of(cls, interval: Duration) -> DeclaredTrigger:
        return cls(interval=millis(interval))


class DeltaTrigger(DeclaredTrigger):
    """Fires when ``delta``, an expression of the row ``a`` of the last firing and a new row ``b``, exceeds a
    threshold."""

    @classmethod
    def of(cls, threshold: float, delta: str) -> DeclaredTrigger:
        return cls(threshold=float(threshold), delta_function=expression(delta))


class PurgingTrigger(DeclaredTrigger):
    """Fires as another trigger and then removes the window's rows."""

    @classmethod
    def of(cls, nested_trigger: DeclaredTrigger | Trigger) -> DeclaredTrigger:
        return cls(nested_trigger=trigger_node(nested_trigger))


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
        return cls(
            nested_trigger=trigger_node(nested_trigger),
            interval=millis(timeout),
            reset_timer_on_new_record=reset_timer_on_new_record,
            should_clear_on_timeout=should_clear_on_timeout,
        )

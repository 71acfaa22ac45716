"""Triggers, which decide when a window is handed to its function; the interface has PyFlink's names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any, Protocol

from .declared import Declared


class TriggerResult(Enum):
    """The decision of a trigger: (whether the window fires, whether its rows are dropped)."""

    CONTINUE = (False, False)
    FIRE = (True, False)
    PURGE = (False, True)
    FIRE_AND_PURGE = (True, True)

    def is_fire(self) -> bool:
        """Whether the window is handed to its function."""
        return self.value[0]

    def is_purge(self) -> bool:
        """Whether the window's rows are dropped."""
        return self.value[1]


class TriggerContext(Protocol):
    """The context that a trigger is called with."""

    def get_current_processing_time(self) -> int:
        """The clock (epoch ms)."""

    def get_current_watermark(self) -> int:
        """The watermark (epoch ms)."""

    def register_event_time_timer(self, time: int) -> None:
        """Call ``on_event_time`` when the watermark reaches a time (epoch ms)."""

    def register_processing_time_timer(self, time: int) -> None:
        """Call ``on_processing_time`` when the clock reaches a time (epoch ms)."""

    def delete_event_time_timer(self, time: int) -> None:
        """Cancel a timer of event time."""

    def delete_processing_time_timer(self, time: int) -> None:
        """Cancel a timer of processing time."""

    def get_partitioned_state(self, state_descriptor: Any) -> Any:
        """State of this key and window."""


class OnMergeContext(TriggerContext, Protocol):
    """The context that ``on_merge`` is called with."""

    def merge_partitioned_state(self, state_descriptor: Any) -> None:
        """Merge the states of the merged windows."""


class Trigger(Declared, ABC):
    """Decides when a window is handed to its function."""

    @abstractmethod
    def on_element(self, element: Any, timestamp: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        """A row has been added to the window."""

    @abstractmethod
    def on_processing_time(self, time: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        """The clock has reached a registered time."""

    @abstractmethod
    def on_event_time(self, time: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        """The watermark has reached a registered time, or the time at which the window is cleaned up."""

    def on_merge(self, window: Any, ctx: OnMergeContext) -> None:
        """Windows have merged into this one.  A trigger without this method cannot be used with merging windows."""
        raise NotImplementedError(f"{type(self).__name__} cannot be merged: it has no on_merge")

    @abstractmethod
    def clear(self, window: Any, ctx: TriggerContext) -> None:
        """Clean up the state of a window that is removed."""


def can_merge(trigger: Trigger) -> bool:
    """Whether a trigger, and the trigger nested in it, can be used with merging windows."""
    nested = getattr(trigger, "nested", None)
    return type(trigger).on_merge is not Trigger.on_merge and (nested is None or can_merge(nested))

"""When a window is handed to its function: the interface has PyFlink's names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any, Protocol

from .declared import Declared


class TriggerResult(Enum):
    """What a trigger decides: (whether the window is handed on, whether its rows are dropped)."""

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
    """What a trigger may ask and do."""

    def get_current_processing_time(self) -> int:
        """The clock (epoch ms)."""

    def get_current_watermark(self) -> int:
        """The watermark (epoch ms)."""

    def register_event_time_timer(self, time: int) -> None:
        """Call ``on_event_time`` when the watermark reaches a time (epoch ms)."""

    def register_processing_time_timer(self, time: int) -> None:
        """Call ``on_processing_time`` when the clock does."""

    def delete_event_time_timer(self, time: int) -> None:
        """Do not, after all."""

    def delete_processing_time_timer(self, time: int) -> None:
        """Likewise."""

    def get_partitioned_state(self, state_descriptor: Any) -> Any:
        """State of this key and window."""


class OnMergeContext(TriggerContext, Protocol):
    """The same where windows merge."""

    def merge_partitioned_state(self, state_descriptor: Any) -> None:
        """Put the windows' state together."""


class Trigger(Declared, ABC):
    """Decides when a window is handed to its function."""

    @abstractmethod
    def on_element(self, element: Any, timestamp: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        """A row has been added to the window."""

    @abstractmethod
    def on_processing_time(self, time: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        """The clock has reached a time that was registered."""

    @abstractmethod
    def on_event_time(self, time: int, window: Any, ctx: TriggerContext) -> TriggerResult:
        """The watermark has, or has reached the time at which the window is cleaned up."""

    def on_merge(self, window: Any, ctx: OnMergeContext) -> None:
        """Windows have merged into this one.  A trigger without this method cannot be used with those that do."""
        raise NotImplementedError(f"{type(self).__name__} cannot be merged: it has no on_merge")

    @abstractmethod
    def clear(self, window: Any, ctx: TriggerContext) -> None:
        """Clean up what is kept for a window that goes."""


def can_merge(trigger: Trigger) -> bool:
    """Whether a trigger can be used where windows merge; one around another one only with that."""
    nested = getattr(trigger, "nested", None)
    return type(trigger).on_merge is not Trigger.on_merge and (nested is None or can_merge(nested))

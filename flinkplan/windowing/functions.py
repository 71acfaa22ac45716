"""What becomes of a window's rows, and which of them leave it: the interfaces have PyFlink's names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Protocol

from .declared import Declared
from .state import KeyedStateStore


class WindowContext(Protocol):
    """What a function may ask."""

    def window(self) -> Any:
        """The window."""

    def current_processing_time(self) -> int:
        """The clock (epoch ms)."""

    def current_watermark(self) -> int:
        """The watermark (epoch ms)."""

    def window_state(self) -> KeyedStateStore:
        """State of this key and window.  Raises :class:`RuntimeError` where windows merge."""

    def global_state(self) -> KeyedStateStore:
        """State of this key."""


class _WindowFunction(Declared, ABC):
    def open(self, runtime_context: Any) -> None:
        """Called once before anything else; the context has nothing."""

    def clear(self, context: WindowContext) -> None:
        """Clean up the state of a window that goes."""


class ProcessWindowFunction(_WindowFunction):
    """Makes rows of those of a key's window."""

    @abstractmethod
    def process(self, key: Any, context: WindowContext, elements: Iterable[Any]) -> Iterable[Any]:
        """The rows of a firing.  ``key`` is the key's column, or a row of several."""


class ProcessAllWindowFunction(_WindowFunction):
    """Makes rows of those of a window that has no key."""

    @abstractmethod
    def process(self, context: WindowContext, elements: Iterable[Any]) -> Iterable[Any]:
        """The rows of a firing."""


class TimestampedValue:
    """A row with its time (epoch ms; ``None`` where it has none)."""

    __slots__ = ("_timestamp", "_value")

    def __init__(self, value: Any, timestamp: int | None) -> None:
        self._value = value
        self._timestamp = timestamp

    def get_value(self) -> Any:
        """The row."""
        return self._value

    def has_timestamp(self) -> bool:
        """Whether the row has a time."""
        return self._timestamp is not None

    def get_timestamp(self) -> int:
        """Its time; the earliest there is where it has none."""
        return -(2**63) if self._timestamp is None else self._timestamp


class EvictorContext(Protocol):
    """What an evictor may ask."""

    def get_current_processing_time(self) -> int:
        """The clock (epoch ms)."""

    def get_current_watermark(self) -> int:
        """The watermark (epoch ms)."""


class Evictor(Declared, ABC):
    """Takes rows out of a window when it fires, by taking them out of the list that it is given."""

    @abstractmethod
    def evict_before(self, elements: list[TimestampedValue], size: int, window: Any, ctx: EvictorContext) -> None:
        """Take rows out before the function."""

    @abstractmethod
    def evict_after(self, elements: list[TimestampedValue], size: int, window: Any, ctx: EvictorContext) -> None:
        """Take rows out behind the function."""

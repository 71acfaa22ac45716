"""Window functions and evictors; the interfaces have PyFlink's names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Protocol

from .declared import Declared
from .state import KeyedStateStore


class WindowContext(Protocol):
    """The context that a function is called with."""

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
        """Called once before anything else; ``runtime_context`` has no methods."""

    def clear(self, context: WindowContext) -> None:
        """Clean up the state of a window that is removed."""


class ProcessWindowFunction(_WindowFunction):
    """Computes result rows from the rows of a window of a key."""

    @abstractmethod
    def process(self, key: Any, context: WindowContext, elements: Iterable[Any]) -> Iterable[Any]:
        """The result rows of a firing.  ``key`` is the value of the key column, or a row of several columns."""


class ProcessAllWindowFunction(_WindowFunction):
    """Computes result rows from the rows of a window without key."""

    @abstractmethod
    def process(self, context: WindowContext, elements: Iterable[Any]) -> Iterable[Any]:
        """The result rows of a firing."""


class TimestampedValue:
    """A row with its time (epoch ms; ``None`` if it has none)."""

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
        """The row's time; ``-2**63`` if it has none."""
        return -(2**63) if self._timestamp is None else self._timestamp


class EvictorContext(Protocol):
    """The context that an evictor is called with."""

    def get_current_processing_time(self) -> int:
        """The clock (epoch ms)."""

    def get_current_watermark(self) -> int:
        """The watermark (epoch ms)."""


class Evictor(Declared, ABC):
    """Evicts rows from a window when it fires, by removing them from the list ``elements``."""

    @abstractmethod
    def evict_before(self, elements: list[TimestampedValue], size: int, window: Any, ctx: EvictorContext) -> None:
        """Evict rows before the function."""

    @abstractmethod
    def evict_after(self, elements: list[TimestampedValue], size: int, window: Any, ctx: EvictorContext) -> None:
        """Evict rows after the function."""

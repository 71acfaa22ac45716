"""Windows and window assigners; the interfaces have PyFlink's names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from .declared import Declared

MAX_TIME = 2**63 - 1
MIN_TIME = -(2**63)


class Window(ABC):
    """A finite part of a stream."""

    __slots__ = ()

    @abstractmethod
    def max_timestamp(self) -> int:
        """The last millisecond (epoch ms) that belongs to the window."""


class TimeWindow(Window):
    """The time from ``start`` (inclusive) to ``end`` (exclusive), in milliseconds."""

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end

    def max_timestamp(self) -> int:
        return self.end - 1

    def intersects(self, other: TimeWindow) -> bool:
        """Whether the windows overlap or touch."""
        return self.start <= other.end and self.end >= other.start

    def cover(self, other: TimeWindow) -> TimeWindow:
        """The window from the earlier start to the later end."""
        return TimeWindow(min(self.start, other.start), max(self.end, other.end))

    @staticmethod
    def get_window_start_with_offset(timestamp: int, offset: int, window_size: int) -> int:
        """The start of the window that contains a time, for windows of a size that are aligned to the epoch plus
        offset.
        """
        return timestamp - (timestamp - offset) % window_size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TimeWindow) and (self.start, self.end) == (other.start, other.end)

    def __hash__(self) -> int:
        return hash((self.start, self.end))

    def __lt__(self, other: TimeWindow) -> bool:
        return (self.start, self.end) < (other.start, other.end)

    def __repr__(self) -> str:
        return f"TimeWindow(start={self.start}, end={self.end})"


class GlobalWindow(Window):
    """The one window of all rows of a key."""

    __slots__ = ()

    _instance: ClassVar[GlobalWindow | None] = None

    @classmethod
    def get(cls) -> GlobalWindow:
        """The window."""
        if cls._instance is None:
            cls._instance = cls()
        return cls._instance

    def max_timestamp(self) -> int:
        return MAX_TIME

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GlobalWindow)

    def __hash__(self) -> int:
        return 0

    def __lt__(self, other: object) -> bool:
        return False

    def __repr__(self) -> str:
        return "GlobalWindow()"


class WindowAssignerContext:
    """The context that an assigner is called with."""

    def __init__(self, processing_time: int) -> None:
        self._processing_time = processing_time

    def get_current_processing_time(self) -> int:
        """The clock (epoch ms)."""
        return self._processing_time


class WindowAssigner(Declared, ABC):
    """Which windows a row belongs to."""

    @abstractmethod
    def assign_windows(self, element: Any, timestamp: int, context: WindowAssignerContext) -> Iterable[Window]:
        """The windows of a row with this time (epoch ms; ``-2**63`` if rows have none)."""

    @abstractmethod
    def is_event_time(self) -> bool:
        """Whether windows end by the watermark instead of the clock."""


Merge = Callable[[Iterable[Any], Any], None]
"""Called with windows and the window that they are merged into."""


class MergingWindowAssigner(WindowAssigner):
    """Assigns windows that merge."""

    def merge_windows(self, windows: Iterable[Any], callback: Merge) -> None:
        """Call ``callback`` for each group of windows to merge; by default those that overlap or touch."""
        group: list[TimeWindow] = []
        cover: TimeWindow | None = None
        for window in sorted(windows):
            if cover is not None and cover.intersects(window):
                cover = cover.cover(window)
                group.append(window)
                continue
            if cover is not None and len(group) > 1:
                callback(group, cover)
            cover, group = window, [window]
        if cover is not None and len(group) > 1:
            callback(group, cover)

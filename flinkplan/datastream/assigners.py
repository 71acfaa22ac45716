"""Window assigners, which decide to which windows a row belongs."""

from __future__ import annotations

from datetime import timedelta

from ..planner.sql.ast import stream_windows as w
from ..windowing import MergingWindowAssigner, WindowAssigner
from .python import python_class
from .sql import Duration, expression, millis


class Time:
    """Durations with PyFlink's names."""

    @staticmethod
    def milliseconds(count: int) -> timedelta:
        return timedelta(milliseconds=count)

    @staticmethod
    def seconds(count: int) -> timedelta:
        return timedelta(seconds=count)

    @staticmethod
    def minutes(count: int) -> timedelta:
        return timedelta(minutes=count)

    @staticmethod
    def hours(count: int) -> timedelta:
        return timedelta(hours=count)

    @staticmethod
    def days(count: int) -> timedelta:
        return timedelta(days=count)


class DeclaredWindowAssigner:
    """A built-in window assigner, created by the methods of its subclasses."""

    def __init__(self, node: w.WindowAssigner) -> None:
        self.node = node


def assigner_node(assigner: DeclaredWindowAssigner | WindowAssigner) -> w.WindowAssigner:
    """The syntax node of an assigner."""
    if isinstance(assigner, DeclaredWindowAssigner):
        return assigner.node
    merges = isinstance(assigner, MergingWindowAssigner)
    return w.WindowAssigner(
        "python", is_event_time=assigner.is_event_time(), python=python_class(assigner), merges=merges
    )


class TumblingEventTimeWindows(DeclaredWindowAssigner):
    """Adjacent windows of one size."""

    _is_event_time = True

    @classmethod
    def of(cls, size: Duration, offset: Duration = 0) -> DeclaredWindowAssigner:
        """Windows of ``size``, shifted by ``offset`` from midnight UTC."""
        return cls(w.WindowAssigner("tumbling", millis(size), offset=millis(offset), is_event_time=cls._is_event_time))


class TumblingProcessingTimeWindows(TumblingEventTimeWindows):
    """The same by the clock."""

    _is_event_time = False


class SlidingEventTimeWindows(DeclaredWindowAssigner):
    """Windows of one size that start at each slide."""

    _is_event_time = True

    @classmethod
    def of(cls, size: Duration, slide: Duration, offset: Duration = 0) -> DeclaredWindowAssigner:
        """Windows of ``size``, one for each ``slide``."""
        return cls(
            w.WindowAssigner("sliding", millis(size), millis(slide), millis(offset), is_event_time=cls._is_event_time)
        )


class SlidingProcessingTimeWindows(SlidingEventTimeWindows):
    """The same by the clock."""

    _is_event_time = False


class EventTimeSessionWindows(DeclaredWindowAssigner):
    """Windows that end when no row arrives for a gap."""

    _is_event_time = True

    @classmethod
    def with_gap(cls, size: Duration) -> DeclaredWindowAssigner:
        """Sessions with one gap."""
        return cls(w.WindowAssigner("session", millis(size), is_event_time=cls._is_event_time))

    @classmethod
    def with_dynamic_gap(cls, gap: str) -> DeclaredWindowAssigner:
        """Sessions whose gap is an expression over each row, in milliseconds or as an interval."""
        return cls(w.WindowAssigner("session", gap=expression(gap), is_event_time=cls._is_event_time))


class ProcessingTimeSessionWindows(EventTimeSessionWindows):
    """The same by the clock."""

    _is_event_time = False


class DynamicEventTimeSessionWindows(EventTimeSessionWindows):
    """Sessions whose gap depends on each row: ``with_dynamic_gap``."""


class DynamicProcessingTimeSessionWindows(ProcessingTimeSessionWindows):
    """The same by the clock."""


class GlobalWindows(DeclaredWindowAssigner):
    """All rows of a key in one window."""

    @classmethod
    def create(cls) -> DeclaredWindowAssigner:
        """The one window of each key, which never ends."""
        return cls(w.WindowAssigner("global", is_event_time=False))

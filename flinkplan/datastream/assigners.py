"""Window assigners, which decide to which windows a row belongs."""

from __future__ import annotations

from typing import Any

from ..plan import specs
from ..planner.sql.ast import stream_windows as w
from ..table.common import Time
from ..windowing import MergingWindowAssigner, WindowAssigner
from .python import python_class
from .sql import Duration, expression, millis, window_arguments

__all__ = [
    "DynamicEventTimeSessionWindows",
    "DynamicProcessingTimeSessionWindows",
    "EventTimeSessionWindows",
    "GlobalWindows",
    "ProcessingTimeSessionWindows",
    "SlidingEventTimeWindows",
    "SlidingProcessingTimeWindows",
    "Time",
    "TumblingEventTimeWindows",
    "TumblingProcessingTimeWindows",
]


class DeclaredWindowAssigner:
    """Assigns windows; constructed by the subclasses' methods, with the fields of a declaration.

    That is the one of the same name unless ``declaration`` names another one.
    """

    def __init__(self, declaration: str | None = None, **fields: Any) -> None:
        declared = getattr(specs.stream_windows, declaration or type(self).__name__)
        self.node: w.WindowAssigner = w.DeclaredAssigner(declared, window_arguments(fields))


def assigner_node(assigner: DeclaredWindowAssigner | WindowAssigner) -> w.WindowAssigner:
    """The syntax-tree node of an assigner."""
    if isinstance(assigner, DeclaredWindowAssigner):
        return assigner.node
    return w.PythonAssigner(
        python_class(assigner), assigner.is_event_time(), isinstance(assigner, MergingWindowAssigner)
    )


class TumblingEventTimeWindows(DeclaredWindowAssigner):
    """Adjacent windows of one size."""

    @classmethod
    def of(cls, size: Duration, offset: Duration = 0) -> DeclaredWindowAssigner:
        """Windows of ``size`` that begin ``offset`` later than at midnight UTC."""
        return cls(size=millis(size), offset=millis(offset))


class TumblingProcessingTimeWindows(TumblingEventTimeWindows):
    """The same by the clock."""


class SlidingEventTimeWindows(DeclaredWindowAssigner):
    """Windows of one size that start at each slide."""

    @classmethod
    def of(cls, size: Duration, slide: Duration, offset: Duration = 0) -> DeclaredWindowAssigner:
        """Windows of ``size``, one each ``slide``."""
        return cls(size=millis(size), slide=millis(slide), offset=millis(offset))


class SlidingProcessingTimeWindows(SlidingEventTimeWindows):
    """The same by the clock."""


class EventTimeSessionWindows(DeclaredWindowAssigner):
    """Windows that end when no row arrives for a gap."""

    _fixed, _dynamic = "EventTimeSessionWindows", "DynamicEventTimeSessionWindows"

    @classmethod
    def with_gap(cls, size: Duration) -> DeclaredWindowAssigner:
        """Sessions with one gap."""
        return cls(cls._fixed, session_timeout=millis(size))

    @classmethod
    def with_dynamic_gap(cls, gap: str) -> DeclaredWindowAssigner:
        """Sessions whose gap is an expression of each row: milliseconds or an interval."""
        return cls(cls._dynamic, session_window_time_gap_extractor=expression(gap))


class ProcessingTimeSessionWindows(EventTimeSessionWindows):
    """The same by the clock."""

    _fixed, _dynamic = "ProcessingTimeSessionWindows", "DynamicProcessingTimeSessionWindows"


class DynamicEventTimeSessionWindows(EventTimeSessionWindows):
    """Sessions whose gap is computed for each row: ``with_dynamic_gap``."""


class DynamicProcessingTimeSessionWindows(ProcessingTimeSessionWindows):
    """The same by the clock."""


class GlobalWindows(DeclaredWindowAssigner):
    """All rows of a key in one window."""

    @classmethod
    def create(cls) -> DeclaredWindowAssigner:
        """The one window of each key, which never ends."""
        return cls()

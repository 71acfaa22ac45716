"""SQL windows: their shapes, how an operator determines a row's window, and window properties."""

from __future__ import annotations

from typing import Annotated, Any

from ..codec import PlanRecord, tagged_union, variant
from ..durations import parse_iso_duration
from ..record import field
from ..references import Input, Mark
from ..types import LogicalType


@tagged_union("type")
class WindowSpec(PlanRecord):
    """The shape of a window; durations are ISO-8601 texts, see :func:`.durations.parse_iso_duration`."""


def _millis(text: str | None) -> int:
    return 0 if text is None else parse_iso_duration(text)


@variant("TumblingWindow")
class TumblingWindow(WindowSpec):
    """Windows of one size, side by side."""

    size: str
    offset: str | None = None

    @property
    def size_ms(self) -> int:
        return _millis(self.size)

    @property
    def offset_ms(self) -> int:
        return _millis(self.offset)


@variant("HoppingWindow")
class HoppingWindow(WindowSpec):
    """Windows of one size, a new one each slide."""

    size: str
    slide: str
    offset: str | None = None

    @property
    def size_ms(self) -> int:
        return _millis(self.size)

    @property
    def slide_ms(self) -> int:
        return _millis(self.slide)

    @property
    def offset_ms(self) -> int:
        return _millis(self.offset)


@variant("CumulativeWindow")
class CumulativeWindow(WindowSpec):
    """Windows of one start that grow by ``step`` up to ``max_size``."""

    max_size: str
    step: str
    offset: str | None = None

    @property
    def size_ms(self) -> int:
        return _millis(self.max_size)

    @property
    def step_ms(self) -> int:
        return _millis(self.step)

    @property
    def offset_ms(self) -> int:
        return _millis(self.offset)


@variant("SessionWindow")
class SessionWindow(WindowSpec):
    """Windows that end when no row came for ``gap``."""

    gap: str
    partition_key_indices: Annotated[tuple[int, ...] | None, Input.ALL] = field(
        name="partition_key_indices", default=None
    )

    @property
    def gap_ms(self) -> int:
        return _millis(self.gap)


@tagged_union("strategy")
class WindowingStrategy(PlanRecord):
    """How an operator determines a row's window."""

    window: WindowSpec
    time_attribute_type: LogicalType

    @property
    def is_proctime(self) -> bool:
        """Whether windows are of processing time."""
        return self.time_attribute_type.is_proctime


@variant("TimeAttribute")
class TimeAttributeWindowing(WindowingStrategy):
    """The operator assigns the window by a time attribute."""

    time_attribute_index: Annotated[int, Input.ALL]
    is_rowtime: bool


@variant("WindowAttached")
class WindowAttachedWindowing(WindowingStrategy):
    """The row carries its window's start (-1 where absent) and end."""

    window_start: Annotated[int, Input.ALL, Mark.PERHAPS]
    window_end: Annotated[int, Input.ALL]
    is_rowtime: bool


@variant("SliceAttached")
class SliceAttachedWindowing(WindowingStrategy):
    """The row carries the end of its slice."""

    slice_end: Annotated[int, Input.ALL]
    is_rowtime: bool


class WindowReference(PlanRecord):
    """The window that a property belongs to."""

    name: str
    type: LogicalType


class WindowProperty(PlanRecord):
    """``kind`` is WindowStart, WindowEnd, Rowtime or Proctime."""

    kind: str
    reference: WindowReference


class NamedWindowProperty(PlanRecord):
    """An output column that holds a property of the window."""

    name: str
    property: WindowProperty


class TimeField(PlanRecord):
    """The time attribute of a legacy group window."""

    field_name: str
    field_index: Annotated[int, Input.ALL]
    input_index: Annotated[int, Mark.DERIVED]
    field_type: LogicalType


@tagged_union("kind")
class GroupWindow(PlanRecord):
    """A window of the legacy GROUP BY TUMBLE(…) syntax."""

    alias: WindowReference
    time_field: TimeField


@variant("TUMBLING")
class TumblingGroupWindow(GroupWindow):
    """``TUMBLE(ts, size)``; ``size`` is a number of rows if ``is_time_window`` is false."""

    is_time_window: bool
    size: Any


@variant("SLIDING")
class SlidingGroupWindow(GroupWindow):
    """``HOP(ts, slide, size)``."""

    is_time_window: bool
    size: Any
    slide: Any


@variant("SESSION")
class SessionGroupWindow(GroupWindow):
    """``SESSION(ts, gap)``."""

    gap: Any

"""Windows as slices: which of them state still has when a watermark has come, and which other windows need.

Source: Flink's ``SliceAssigners``, and ``AbstractSliceWindowAggProcessor`` for what is kept, merged and fired.
"""

from __future__ import annotations

from ...plan.record import Record
from ...plan.specs import CumulativeWindow, HoppingWindow, TumblingWindow, WindowSpec


class Slices(Record):
    """How windows of event time are made of slices; all in milliseconds.

    The largest windows have this ``size``, and one begins each ``step`` from ``offset`` on.  A slice has the length
    ``slice``.  ``is_cumulative``: windows of one start grow slice by slice, and what has fired is in the first one.
    """

    slice: int
    size: int
    step: int
    offset: int
    is_cumulative: bool = False

    @classmethod
    def of(cls, window: WindowSpec) -> Slices | None:
        """The slices of windows; ``None`` for windows that are not made of slices of their step."""
        match window:
            case TumblingWindow():
                return cls(window.size_ms, window.size_ms, window.size_ms, window.offset_ms)
            case HoppingWindow() if window.slide_ms and window.size_ms % window.slide_ms == 0:
                return cls(window.slide_ms, window.size_ms, window.slide_ms, window.offset_ms)
            case CumulativeWindow():
                return cls(window.step_ms, window.size_ms, window.size_ms, window.offset_ms, is_cumulative=True)
        return None

    def first_start(self, watermark: int) -> int:
        """The start of the first window that has not fired: a window fires a millisecond before its end."""
        steps = (watermark + 1 - self.size - self.offset) // self.step
        return (steps + 1) * self.step + self.offset

    def can_become(self, other: Slices) -> bool:
        """Whether slices can be put together to those of other windows."""
        unit = self.size if self.is_cumulative else self.slice
        return other.slice % unit == 0 and (other.offset - self.offset) % unit == 0

    def contains(self, other: Slices) -> bool:
        """Whether each of the other windows lies within one of these, so that its slices are kept until it fires."""
        begins_with_one = other.step % self.step == 0 and (other.offset - self.offset) % self.step == 0
        return begins_with_one and other.size <= self.size

    def keeps_all_of(self, other: Slices, watermark: int | None) -> bool:
        """Whether all slices of the other windows that have not fired are kept."""
        return watermark is None or other.first_start(watermark) >= self.first_start(watermark)

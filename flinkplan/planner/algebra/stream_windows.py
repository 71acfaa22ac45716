"""What a window of the DataStream API is, before and behind the choice of its operator."""

from __future__ import annotations

from ...plan.record import Record
from ...plan.specs import Evictor, Trigger, WindowAssigner, WindowFunction


class StreamWindow(Record, kw_only=True):
    """A window of the DataStream API; ``lateness`` is milliseconds, ``time_index`` -1 where rows have no time.

    Its columns are those of the function, then ``properties`` of the window.  ``element_names`` are what Python classes
    call the columns of the rows that it reads, where there are such classes, whatever becomes of the names below.
    """

    keys: tuple[int, ...]
    time_index: int
    assigner: WindowAssigner
    trigger: Trigger
    evictor: Evictor | None
    lateness: int
    function: WindowFunction
    properties: tuple[str, ...]
    element_names: tuple[str, ...] | None

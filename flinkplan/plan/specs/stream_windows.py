"""Windows of the DataStream API: assigners, triggers, evictors and functions, under Flink's names.

Durations are ISO-8601 texts; expressions are over the columns of the operator's input, and where two rows are
compared or combined over the columns of the earlier one, followed by those of the later one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from ..codec import PlanRecord, tagged_union, variant
from ..references import Input, Number
from ..rex import RexNode
from ..types import TIMESTAMPS
from .aggregation import AggregateCall
from .ranking import SortField


@tagged_union("type")
class WindowAssigner(PlanRecord):
    """Which windows a row belongs to."""

    is_event_time: ClassVar[bool] = True
    is_merging: ClassVar[bool] = False


@variant("TumblingEventTimeWindows")
class TumblingEventTimeWindows(WindowAssigner):
    """Windows of one size, side by side."""

    size: str
    offset: str = "PT0S"


@variant("TumblingProcessingTimeWindows")
class TumblingProcessingTimeWindows(TumblingEventTimeWindows):
    """The same by the clock."""

    is_event_time: ClassVar[bool] = False


@variant("SlidingEventTimeWindows")
class SlidingEventTimeWindows(WindowAssigner):
    """Windows of one size, a new one each slide."""

    size: str
    slide: str
    offset: str = "PT0S"


@variant("SlidingProcessingTimeWindows")
class SlidingProcessingTimeWindows(SlidingEventTimeWindows):
    """The same by the clock."""

    is_event_time: ClassVar[bool] = False


@variant("EventTimeSessionWindows")
class EventTimeSessionWindows(WindowAssigner):
    """Windows that end when no row came for the gap."""

    session_timeout: str

    is_merging: ClassVar[bool] = True


@variant("ProcessingTimeSessionWindows")
class ProcessingTimeSessionWindows(EventTimeSessionWindows):
    """The same by the clock."""

    is_event_time: ClassVar[bool] = False


@variant("DynamicEventTimeSessionWindows")
class DynamicEventTimeSessionWindows(WindowAssigner):
    """Sessions whose gap (BIGINT, milliseconds) each row says itself."""

    session_window_time_gap_extractor: Annotated[RexNode, Input.ALL]

    is_merging: ClassVar[bool] = True


@variant("DynamicProcessingTimeSessionWindows")
class DynamicProcessingTimeSessionWindows(DynamicEventTimeSessionWindows):
    """The same by the clock."""

    is_event_time: ClassVar[bool] = False


@variant("GlobalWindows")
class GlobalWindows(WindowAssigner):
    """All rows of a key in one window that never ends."""

    is_event_time: ClassVar[bool] = False


@variant("PythonWindowAssigner")
class PythonWindowAssigner(WindowAssigner):
    """Windows by a Python class, ``module:Class``, made with these arguments."""

    python_class: str
    arguments: Mapping[str, Any]
    event_time: bool
    merging: bool

    @property
    def is_event_time(self) -> bool:  # type: ignore[override]
        """Whether its windows end by the watermark."""
        return self.event_time

    @property
    def is_merging(self) -> bool:  # type: ignore[override]
        """Whether its windows merge."""
        return self.merging


@tagged_union("type")
class Trigger(PlanRecord):
    """When a window is handed to its function."""

    can_merge: ClassVar[bool] = True


@variant("EventTimeTrigger")
class EventTimeTrigger(Trigger):
    """When the watermark reaches the window's end."""


@variant("ProcessingTimeTrigger")
class ProcessingTimeTrigger(Trigger):
    """When the clock reaches the window's end."""


@variant("CountTrigger")
class CountTrigger(Trigger):
    """After so many rows."""

    max_count: Number


@variant("ContinuousEventTimeTrigger")
class ContinuousEventTimeTrigger(Trigger):
    """At each interval of event time, and at the window's end."""

    interval: str


@variant("ContinuousProcessingTimeTrigger")
class ContinuousProcessingTimeTrigger(Trigger):
    """At each interval of the clock."""

    interval: str


@variant("DeltaTrigger")
class DeltaTrigger(Trigger):
    """When a row differs from that of the last firing by more than the threshold."""

    threshold: float
    delta_function: Annotated[RexNode, Input.PAIR]

    can_merge: ClassVar[bool] = False


@variant("NeverTrigger")
class NeverTrigger(Trigger):
    """Never: the default of global windows."""

    can_merge: ClassVar[bool] = False


@variant("EndOfStreamTrigger")
class EndOfStreamTrigger(Trigger):
    """When all input has ended."""

    can_merge: ClassVar[bool] = False


@variant("PurgingTrigger")
class PurgingTrigger(Trigger):
    """As another trigger, but each firing drops the window's rows."""

    nested_trigger: Trigger

    @property
    def can_merge(self) -> bool:  # type: ignore[override]
        """As the trigger inside can."""
        return self.nested_trigger.can_merge


@variant("ProcessingTimeoutTrigger")
class ProcessingTimeoutTrigger(Trigger):
    """As another trigger, and when so much time has passed by the clock since the first row, or the last."""

    nested_trigger: Trigger
    interval: str
    reset_timer_on_new_record: bool = False
    should_clear_on_timeout: bool = True

    can_merge: ClassVar[bool] = False


@variant("PythonTrigger")
class PythonTrigger(Trigger):
    """By a Python class, which sets timers of the clock as well where it says so."""

    python_class: str
    arguments: Mapping[str, Any]
    uses_processing_time: bool = False


def triggers(trigger: Trigger) -> Iterator[Trigger]:
    """A trigger and those inside of it."""
    yield trigger
    if isinstance(trigger, (PurgingTrigger, ProcessingTimeoutTrigger)):
        yield from triggers(trigger.nested_trigger)


@tagged_union("type")
class Evictor(PlanRecord):
    """Which rows leave a window before or after its function."""

    do_evict_after: bool


@variant("CountEvictor")
class CountEvictor(Evictor):
    """All but the last rows to arrive."""

    max_count: Number


@variant("TimeEvictor")
class TimeEvictor(Evictor):
    """The rows that are so much older than the window's latest one."""

    window_size: str


@variant("DeltaEvictor")
class DeltaEvictor(Evictor):
    """The rows that differ from the last one to arrive by the threshold or more."""

    threshold: float
    delta_function: Annotated[RexNode, Input.PAIR]


@variant("PythonEvictor")
class PythonEvictor(Evictor):
    """The rows that a Python class takes out; it has a method for either time."""

    python_class: str
    arguments: Mapping[str, Any]


@tagged_union("type")
class WindowFunction(PlanRecord):
    """What becomes of a window's rows."""

    is_incremental: ClassVar[bool] = True


@variant("ReduceFunction")
class ReduceFunction(WindowFunction):
    """Two rows become one, column by column."""

    columns: Annotated[tuple[RexNode, ...], Input.PAIR]


@variant("AggregateFunction")
class AggregateFunction(WindowFunction):
    """Aggregate calls over the rows; the result has the key, then the calls' results."""

    agg_calls: Annotated[tuple[AggregateCall, ...], Input.ALL]


@variant("Elements")
class Elements(WindowFunction):
    """The rows themselves, in the order of arrival or in another: the first ``limit`` of them, or from the end on."""

    limit: Annotated[int | None, Input.NONE] = None
    from_end: bool = False
    order_by: tuple[SortField, ...] = ()

    is_incremental: ClassVar[bool] = False


@variant("ProcessWindowFunction")
class ProcessWindowFunction(WindowFunction):
    """Rows by a Python class from those of the window; the result has the columns that are declared."""

    python_class: str
    arguments: Mapping[str, Any]

    is_incremental: ClassVar[bool] = False


_PLAIN = ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "DATE", "TIME")
PYTHON_TYPES = frozenset((*_PLAIN, "CHAR", "VARCHAR", "BINARY", "VARBINARY", *TIMESTAMPS))
"""The types, by their roots, of columns that Python classes read and give."""


PythonPart = PythonWindowAssigner | PythonTrigger | PythonEvictor | ProcessWindowFunction
"""A part of a window operator that is a Python class."""


def python_parts(
    assigner: WindowAssigner, trigger: Trigger, evictor: Evictor | None, function: WindowFunction
) -> tuple[PythonPart, ...]:
    """The parts of a window operator that are Python classes."""
    parts = (assigner, *triggers(trigger), evictor, function)
    return tuple(part for part in parts if isinstance(part, PythonPart))


PROPERTIES = ("WindowStart", "WindowEnd", "WindowTime", "WindowFiring", "KeyFiring")
"""What an operator tells of the window, behind the columns of its function: its bounds, its time attribute, and how
often this window, and windows of this key, have fired by then."""

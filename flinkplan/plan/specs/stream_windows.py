"""Windows of the DataStream API: assigners, triggers, evictors and functions, under Flink's names.

Durations are ISO-8601 texts; expressions are over the columns of the operator's input, and where two rows are
compared or combined over the columns of the earlier one, followed by those of the later one.

An assigner, trigger or evictor is declared here once: its fields in the plan, their keys in a pipeline's YAML
(:class:`Argument`), and how it behaves.  Its implementations are found by its name: the class of the same name in
``windowing/builtins.py``, and the kernel's nested class without the suffix (``CountTrigger``: ``Trigger$Count``).  Both
are constructed with the fields in the order of their declaration, durations in milliseconds.  The last argument of an
assigner is whether windows end by event time, and that of an evictor whether it evicts after the function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from ..codec import PlanRecord, tagged_union, variant
from ..durations import format_duration, parse_iso_duration
from ..references import Input
from ..rex import RexNode
from ..types import TIMESTAMPS
from .aggregation import AggregateCall
from .ranking import SortField
from .window_parts import Argument, WindowPart


@tagged_union("type")
class WindowAssigner(WindowPart):
    """Which windows a row belongs to.

    Its implementations are found by ``kind``: ``Assigner$Sliding`` and ``SlidingWindows`` for ``sliding``.
    """

    kind: ClassVar[str] = ""
    is_event_time: ClassVar[bool] = True
    is_merging: ClassVar[bool] = False

    @property
    def size_ms(self) -> int:
        """How long the window of one row lasts, in milliseconds; 0 where that is not known."""
        return 0

    @property
    def windows_per_row(self) -> int:
        """How many windows a row belongs to at most."""
        return 1


_OFFSET = Argument("offset", "By how much tumbling or sliding windows begin later than at midnight UTC.")


def _offset_problem(offset: str, limit: str, noun: str) -> tuple[str, str | None] | None:
    offset_ms, limit_ms = parse_iso_duration(offset), parse_iso_duration(limit)
    if abs(offset_ms) < limit_ms:
        return None
    return (
        f"the offset of a window must be smaller than its {noun}, {format_duration(limit_ms)}, "
        f"not {format_duration(offset_ms)}",
        f"{format_duration(offset_ms % limit_ms)} has the same effect",
    )


@variant("TumblingEventTimeWindows")
class TumblingEventTimeWindows(WindowAssigner):
    """Windows of one size, side by side."""

    size: Annotated[
        str, Argument("tumbling", "The size of windows side by side.", names_part=True, noun="size", positive=True)
    ]
    offset: Annotated[str, _OFFSET] = "PT0S"

    kind: ClassVar[str] = "tumbling"

    @property
    def size_ms(self) -> int:
        return parse_iso_duration(self.size)

    def problem(self) -> tuple[str, str | None] | None:
        return _offset_problem(self.offset, self.size, "size")


@variant("TumblingProcessingTimeWindows")
class TumblingProcessingTimeWindows(TumblingEventTimeWindows):
    """The same by the clock."""

    is_event_time: ClassVar[bool] = False


MAX_WINDOWS_PER_ROW = 10_000_000
"""How many windows a row may belong to, as in Flink."""


@variant("SlidingEventTimeWindows")
class SlidingEventTimeWindows(WindowAssigner):
    """Windows of one size, a new one each slide."""

    size: Annotated[
        str,
        Argument(
            "sliding",
            "The size of windows of which a new one begins each slide.",
            names_part=True,
            noun="size",
            positive=True,
        ),
    ]
    slide: Annotated[
        str,
        Argument(
            "slide", "How often a sliding window begins.", positive=True, example="{sliding: 10 min, slide: 5 min}"
        ),
    ]
    offset: Annotated[str, _OFFSET] = "PT0S"

    kind: ClassVar[str] = "sliding"

    @property
    def size_ms(self) -> int:
        return parse_iso_duration(self.size)

    @property
    def windows_per_row(self) -> int:
        return -(-self.size_ms // parse_iso_duration(self.slide))

    def problem(self) -> tuple[str, str | None] | None:
        windows = self.size_ms // parse_iso_duration(self.slide)
        if windows > MAX_WINDOWS_PER_ROW:
            message = f"each row would be in {windows:,} windows, and {MAX_WINDOWS_PER_ROW:,} is the most"
            return message, "take a longer slide"
        return _offset_problem(self.offset, self.slide, "slide")


@variant("SlidingProcessingTimeWindows")
class SlidingProcessingTimeWindows(SlidingEventTimeWindows):
    """The same by the clock."""

    is_event_time: ClassVar[bool] = False


@variant("EventTimeSessionWindows")
class EventTimeSessionWindows(WindowAssigner):
    """Windows that end when no row came for the gap."""

    session_timeout: Annotated[
        str,
        Argument(
            "session",
            "The gap without rows that ends a session.",
            names_part=True,
            noun="gap",
            positive=True,
            per_row=True,
        ),
    ]

    kind: ClassVar[str] = "session"
    is_merging: ClassVar[bool] = True

    @property
    def size_ms(self) -> int:
        return parse_iso_duration(self.session_timeout)


@variant("ProcessingTimeSessionWindows")
class ProcessingTimeSessionWindows(EventTimeSessionWindows):
    """The same by the clock."""

    is_event_time: ClassVar[bool] = False


@variant("DynamicEventTimeSessionWindows")
class DynamicEventTimeSessionWindows(WindowAssigner):
    """Sessions whose gap (BIGINT, milliseconds) is computed for each row."""

    session_window_time_gap_extractor: Annotated[
        RexNode,
        Input.ALL,
        Argument("session-by", "Each row's own gap: milliseconds or an interval.", names_part=True, per_row=True),
    ]

    kind: ClassVar[str] = "session"
    is_merging: ClassVar[bool] = True


@variant("DynamicProcessingTimeSessionWindows")
class DynamicProcessingTimeSessionWindows(DynamicEventTimeSessionWindows):
    """The same by the clock."""

    is_event_time: ClassVar[bool] = False


@variant("GlobalWindows")
class GlobalWindows(WindowAssigner):
    """All rows of a key in one window that never ends."""

    keyword: ClassVar[str] = "global"
    kind: ClassVar[str] = "global"
    is_event_time: ClassVar[bool] = False


@variant("PythonWindowAssigner")
class PythonWindowAssigner(WindowAssigner):
    """Windows by a Python class, ``module:Class``, constructed with these arguments."""

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
class Trigger(WindowPart):
    """When a window is handed to its function."""

    can_merge: ClassVar[bool] = True
    uses_watermark: ClassVar[bool] = False
    """Whether it sets timers of event time."""
    uses_clock: ClassVar[bool] = False
    """Whether it sets timers of processing time."""
    needs_event_time: ClassVar[bool] = False
    """Whether rows must have an event time."""
    only_global: ClassVar[bool] = False
    """Whether it is for global windows alone."""
    keeps_number: ClassVar[bool] = False
    """Whether the kernel keeps a number for it in each window, in a slot that is the constructor's last argument."""


@variant("EventTimeTrigger")
class EventTimeTrigger(Trigger):
    """When the watermark reaches the window's end."""

    keyword: ClassVar[str] = "event-time"
    uses_watermark: ClassVar[bool] = True
    needs_event_time: ClassVar[bool] = True


@variant("ProcessingTimeTrigger")
class ProcessingTimeTrigger(Trigger):
    """When the clock reaches the window's end."""

    keyword: ClassVar[str] = "processing-time"
    uses_clock: ClassVar[bool] = True


@variant("CountTrigger")
class CountTrigger(Trigger):
    """After a number of rows."""

    max_count: Annotated[int, Input.NONE, Argument("count", "So many rows.", names_part=True, positive=True)]

    keeps_number: ClassVar[bool] = True


@variant("ContinuousEventTimeTrigger")
class ContinuousEventTimeTrigger(Trigger):
    """At each interval of event time, and at the window's end."""

    interval: Annotated[
        str, Argument("every", "Each interval of event time.", names_part=True, noun="interval", positive=True)
    ]

    uses_watermark: ClassVar[bool] = True
    needs_event_time: ClassVar[bool] = True
    keeps_number: ClassVar[bool] = True


@variant("ContinuousProcessingTimeTrigger")
class ContinuousProcessingTimeTrigger(Trigger):
    """At each interval of the clock."""

    interval: Annotated[
        str, Argument("every-by-clock", "Each interval of the clock.", names_part=True, noun="interval", positive=True)
    ]

    uses_clock: ClassVar[bool] = True
    keeps_number: ClassVar[bool] = True


@variant("DeltaTrigger")
class DeltaTrigger(Trigger):
    """When a row differs from that of the last firing by more than the threshold."""

    threshold: Annotated[
        float, Argument("threshold", "What the delta must exceed.", needed="a number as its 'threshold'")
    ]
    delta_function: Annotated[
        RexNode,
        Input.PAIR,
        Argument("delta", "An expression of a, the row of the last firing, and b, a new one.", names_part=True),
    ]

    can_merge: ClassVar[bool] = False


@variant("NeverTrigger")
class NeverTrigger(Trigger):
    """Never: the default of global windows."""

    keyword: ClassVar[str] = "never"
    can_merge: ClassVar[bool] = False
    only_global: ClassVar[bool] = True


@variant("EndOfStreamTrigger")
class EndOfStreamTrigger(Trigger):
    """When all input has ended."""

    keyword: ClassVar[str] = "end-of-stream"
    can_merge: ClassVar[bool] = False
    uses_watermark: ClassVar[bool] = True
    only_global: ClassVar[bool] = True


@variant("PurgingTrigger")
class PurgingTrigger(Trigger):
    """As another trigger, but each firing drops the window's rows."""

    nested_trigger: Annotated[
        Trigger, Argument("purging", "A trigger whose firings drop the window's rows.", names_part=True)
    ]

    @property
    def can_merge(self) -> bool:  # type: ignore[override]
        """Whether the nested trigger can be merged."""
        return self.nested_trigger.can_merge


@variant("ProcessingTimeoutTrigger")
class ProcessingTimeoutTrigger(Trigger):
    """As another trigger, and a timeout after the window's first row, or its last one, by the clock."""

    nested_trigger: Annotated[
        Trigger,
        Argument(
            "of",
            "The trigger that a timeout is put around.",
            needed="the trigger that it is put around",
            example="{timeout: 1 min, of: {count: 3}}",
        ),
    ]
    interval: Annotated[
        str, Argument("timeout", "So long by the clock since the first row.", names_part=True, positive=True)
    ]
    reset_timer_on_new_record: Annotated[bool, Argument("reset", "Whether each row starts the timeout anew.")] = False
    should_clear_on_timeout: Annotated[
        bool, Argument("clear", "Whether the timeout clears the trigger inside; true unless said.")
    ] = True

    can_merge: ClassVar[bool] = False
    uses_clock: ClassVar[bool] = True
    keeps_number: ClassVar[bool] = True


@variant("PythonTrigger")
class PythonTrigger(Trigger):
    """By a Python class, which sets timers of the clock as well where it says so."""

    python_class: str
    arguments: Mapping[str, Any]
    uses_processing_time: bool = False

    @property
    def uses_clock(self) -> bool:  # type: ignore[override]
        """Whether the class sets timers of processing time."""
        return self.uses_processing_time


def triggers(trigger: Trigger) -> Iterator[Trigger]:
    """A trigger and those nested in it."""
    yield trigger
    for nested in (getattr(trigger, name) for name in trigger.__struct_fields__):
        if isinstance(nested, Trigger):
            yield from triggers(nested)


@tagged_union("type")
class Evictor(WindowPart):
    """Which rows leave a window before or after its function."""

    do_evict_after: bool


@variant("CountEvictor")
class CountEvictor(Evictor):
    """All but the last rows to arrive."""

    max_count: Annotated[int, Input.NONE, Argument("count", "How many of the last rows stay.", names_part=True)]

    def problem(self) -> tuple[str, str | None] | None:
        return ("an evictor cannot keep fewer than 0 rows", None) if self.max_count < 0 else None


@variant("TimeEvictor")
class TimeEvictor(Evictor):
    """The rows that are older than the window's latest one by the size or more."""

    window_size: Annotated[str, Argument("time", "Rows stay that are less older than the latest.", names_part=True)]


@variant("DeltaEvictor")
class DeltaEvictor(Evictor):
    """The rows that differ from the last one to arrive by the threshold or more."""

    threshold: Annotated[
        float, Argument("threshold", "From which delta on a row is evicted.", needed="a number as its 'threshold'")
    ]
    delta_function: Annotated[
        RexNode, Input.PAIR, Argument("delta", "An expression of a row, a, and the last one, b.", names_part=True)
    ]


@variant("PythonEvictor")
class PythonEvictor(Evictor):
    """The rows that a Python class evicts; it has a method for each of the two moments."""

    python_class: str
    arguments: Mapping[str, Any]


@tagged_union("type")
class WindowFunction(PlanRecord):
    """How the rows of a window become result rows."""

    is_incremental: ClassVar[bool] = True


@variant("ReduceFunction")
class ReduceFunction(WindowFunction):
    """Combines two rows into one, column by column."""

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
    """A Python class that computes result rows from those of the window; the result has the declared columns."""

    python_class: str
    arguments: Mapping[str, Any]

    is_incremental: ClassVar[bool] = False


_PLAIN = ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "DATE", "TIME")
PYTHON_TYPES = frozenset((*_PLAIN, "CHAR", "VARCHAR", "BINARY", "VARBINARY", *TIMESTAMPS))
"""The roots of the types of columns that Python classes can read and return."""


PythonPart = PythonWindowAssigner | PythonTrigger | PythonEvictor | ProcessWindowFunction
"""A part of a window operator that is a Python class."""


def python_parts(
    assigner: WindowAssigner, trigger: Trigger, evictor: Evictor | None, function: WindowFunction
) -> tuple[PythonPart, ...]:
    """The parts of a window operator that are Python classes."""
    parts = (assigner, *triggers(trigger), evictor, function)
    return tuple(part for part in parts if isinstance(part, PythonPart))


PROPERTIES = ("WindowStart", "WindowEnd", "WindowTime", "WindowFiring", "KeyFiring")
"""The properties that follow the columns of an operator's function: the window's bounds, its time attribute, and the
numbers of firings so far of the window and of all windows of the key."""

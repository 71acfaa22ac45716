"""Aggregations in windows: what they are, whichever node asks for them, and the steps that run them."""

from __future__ import annotations

from collections.abc import Sequence

from ...plan.errors import UnsupportedError
from ...plan.nodes import ExecNode
from ...plan.record import Record
from ...plan.session import time_zone
from ...plan.settings import LOCAL_TIME_ZONE
from ...plan.specs import (
    AggregateCall,
    NamedWindowProperty,
    SessionWindow,
    TimeAttributeWindowing,
    TumblingWindow,
    WindowingStrategy,
)
from ...plan.types import LogicalType
from ..aggregate_functions import check_method, folds_exactly, function_name
from .known.carried import carries_late_rows, carries_watermarks
from .known.emission import AT_THE_END, Emission
from .query import QueryPlan
from .steps import FOLDS_ROWS, ROWS_AHEAD, TIMER, Kernel, Native, StateLayout, accumulators, until_watermark

ROWS_OF_SESSIONS = until_watermark("ListState", "rows", "the rows of open sessions")
ROWS_OF_WINDOWS = until_watermark("ListState", "rows", "the rows of open windows")


class Clock(Record):
    """The wall clock that windows of a time attribute follow.

    A TIMESTAMP is a wall clock by itself; a TIMESTAMP_LTZ is an instant, which ``zone`` shows as a wall clock.
    """

    zone: str
    is_instant: bool

    @property
    def java_zone(self) -> str | None:
        """The zone for kernels; ``None`` where wall clocks are instants."""
        return self.zone if self.is_instant and self.zone not in ("UTC", "GMT", "Z") else None


def clock_of(node: ExecNode, time_attribute: LogicalType, query: QueryPlan) -> Clock:
    """The clock of a node's windows."""
    zone = node.option(LOCAL_TIME_ZONE, time_zone(query.plan, query.options))
    return Clock(zone, time_attribute.root == "TIMESTAMP_LTZ")


class WindowAggregation(Record):
    """An aggregation in windows.

    ``properties`` of the window stand behind the results.  ``panes``: the parts of a HOP window are merged from the
    earliest on, as those of group windows.  ``has_local_phase``: Flink aggregates rows before it sends them to their
    keys.
    """

    grouping: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    windowing: WindowingStrategy
    properties: tuple[NamedWindowProperty, ...]
    clock: Clock
    output_type: LogicalType
    emission: Emission = AT_THE_END
    panes: bool = False
    has_local_phase: bool = False

    @property
    def is_session(self) -> bool:
        """Whether windows merge."""
        return isinstance(self.windowing.window, SessionWindow) and isinstance(self.windowing, TimeAttributeWindowing)


class NativeWindows(Native, kw_only=True):
    """Spark's own grouping by key and window."""

    aggregation: WindowAggregation


class KernelWindows(Kernel, kw_only=True):
    """A kernel that keeps the windows of a key; ``folds``: the changes of a batch to a window may come to one.

    ``folds_rows``: the rows of a batch are folded by window in each task, before they are sent to their keys.
    """

    aggregation: WindowAggregation
    folds: bool
    folds_rows: bool

    @property
    def notes(self) -> tuple[str, ...]:
        return (FOLDS_ROWS,) if self.folds_rows else ()


class KernelSessions(Kernel, kw_only=True):
    """A kernel that keeps the rows of a key until the sessions they are in close."""

    aggregation: WindowAggregation


def native_windows(node: ExecNode, aggregation: WindowAggregation, query: QueryPlan) -> NativeWindows:
    """The step of an aggregation that Spark does by itself."""
    return NativeWindows(
        operators="Aggregate",
        why="insert-only, and all functions are the same in Spark",
        shuffle=query.window_keys(node),
        states=(until_watermark("", "state", "accumulators by key and window"),),
        aggregation=aggregation,
    )


def kernel_windows(
    node: ExecNode, aggregation: WindowAggregation, query: QueryPlan, why: str, source: ExecNode
) -> KernelWindows | KernelSessions:
    """The step of an aggregation of the rows of ``source`` by a kernel, and ``why``."""
    if aggregation.is_session:
        return KernelSessions(
            kernel="time.SessionAggregate",
            why=why,
            shuffle=query.keys(node),
            states=session_states(aggregation.windowing, source, query),
            aggregation=aggregation,
        )
    held = accumulators(aggregation.calls)
    few = until_watermark("ValueState", "windows-few", f"of few windows {held}")
    many = until_watermark("MapState", "windows", f"of many, by window {held}")
    return KernelWindows(
        kernel="time.WindowAggregate",
        why=why,
        shuffle=query.keys(node),
        states=(few, many, TIMER),
        aggregation=aggregation,
        folds=query.folds,
        folds_rows=_folds_rows(aggregation, query, source),
    )


def session_states(windowing: WindowingStrategy, source: ExecNode, query: QueryPlan) -> tuple[StateLayout, ...]:
    """What a kernel keeps of the sessions of the rows of ``source``."""
    has_late_rows = not windowing.is_proctime and carries_late_rows(query.plan, source)
    return ROWS_OF_SESSIONS, *((ROWS_AHEAD,) if has_late_rows else ()), TIMER


def _folds_rows(aggregation: WindowAggregation, query: QueryPlan, source: ExecNode) -> bool:
    """Whether rows are folded: they come in batches, fire once, are late or on time by their own watermark, and no
    function can tell the difference.
    """
    if query.is_batch or query.is_real_time or aggregation.emission.updates:
        return False
    if query.is_changelog(source) or carries_late_rows(query.plan, source):
        return False
    if not all(folds_exactly(call, source.output_type) for call in aggregation.calls):
        return False
    is_assigned = isinstance(aggregation.windowing, TimeAttributeWindowing)
    return is_assigned or aggregation.windowing.is_proctime or not carries_watermarks(query.plan, source)


_NULLS = ("ABSENT", "NULL")
_UNMERGEABLE = frozenset(
    ("FIRST_VALUE", "LAST_VALUE", *(f"JSON_{of}AGG_{nulls}_ON_NULL" for of in ("ARRAY", "OBJECT") for nulls in _NULLS))
)
"""Functions whose results of two parts of a window Flink cannot make one of."""


def check_merges(windowing: WindowingStrategy, calls: Sequence[AggregateCall]) -> None:
    """Refuse what Flink, which makes windows other than TUMBLE of parts, compiles but never runs."""
    if not isinstance(windowing, TimeAttributeWindowing) or isinstance(windowing.window, TumblingWindow):
        return
    for call in calls:
        check_method(call, "merge", "a window that is made of parts")
        name = function_name(call)
        if name in _UNMERGEABLE:
            raise UnsupportedError(
                f"{name} in a window that is made of parts, which Flink compiles, but no job with it starts",
                hint="use a TUMBLE window, or MIN, MAX or ARRAY_AGG",
            )

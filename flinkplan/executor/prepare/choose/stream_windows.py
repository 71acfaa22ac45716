"""Windows of the DataStream API: Flink's window operator as a kernel or in Python, or Spark's own grouping.

In a batch a window is nothing but its rows that are not late, as long as it fires once, at its end: then Spark groups
by itself.
"""

from __future__ import annotations

from ....plan.nodes import LateRows, WatermarkAssigner, WindowOperator
from ....plan.specs import (
    AggregateFunction,
    EventTimeTrigger,
    GlobalWindows,
    HoppingWindow,
    PythonTrigger,
    SlidingEventTimeWindows,
    TimeAttributeWindowing,
    TumblingEventTimeWindows,
    TumblingWindow,
    triggers,
)
from ....plan.types import LogicalType
from ...aggregate_functions import function_name
from ..known.carried import carries_causes, carries_late_rows
from ..known.native_calls import is_native_call
from ..query import QueryPlan, chooser
from ..steps import Kernel, Native, Python, StateLayout, until_watermark, with_ttl
from ..windows import Clock, WindowAggregation

_CLOCK = Clock("UTC", False)
"""Windows of the DataStream API know no time zone."""

EMISSION_ORDER = Kernel(
    kernel="window.EmissionOrder",
    why="what other windows emit comes in Flink's order",
    shuffle=(),
    states=(
        until_watermark("ValueState", "progress", "the watermarks of the source"),
        until_watermark("ListState", "pending", "rows that wait"),
    ),
)


class NativeWindowOperator(Native, kw_only=True):
    """Spark's own grouping of windows that fire once.

    ``by_events`` and ``by_clock``: whether watermarks and the clock bring something about.
    """

    by_events: bool
    by_clock: bool
    aggregation: WindowAggregation


class KernelWindowOperator(Kernel, kw_only=True):
    """Triggers, evictors and lateness as in Flink's window operator.

    ``by_events`` and ``by_clock``: as of :class:`NativeWindowOperator`.  ``has_late``: it hands on rows that are late.
    """

    by_events: bool
    by_clock: bool
    has_late: bool


class PythonWindowOperator(Python, kw_only=True):
    """The same by classes of Python."""

    by_events: bool
    by_clock: bool
    has_late: bool


@chooser(
    WindowOperator,
    real_time=lambda node, query: (
        "its triggers wait for Spark's watermark, which real-time mode moves at checkpoints only"
    ),
)
def window_operator(
    node: WindowOperator, query: QueryPlan
) -> NativeWindowOperator | KernelWindowOperator | PythonWindowOperator:
    """Rows of a key into windows, which triggers hand to the function."""
    by_events, by_clock = waits_for_events(node), waits_for_clock(node)
    runs_before = (EMISSION_ORDER,) if _reads_windows(node, query) else ()
    has_late = any(isinstance(reader, LateRows) for reader in query.whole.outputs(node))
    if query.is_batch and not has_late and _obstacle(node, query) is None:
        return NativeWindowOperator(
            operators="Aggregate",
            why="each window fires once, and all functions are the same in Spark",
            shuffle=query.window_keys(node),
            by_events=by_events,
            by_clock=by_clock,
            runs_before=runs_before,
            aggregation=_aggregation(node, query),
        )
    keys, states = query.keys(node), _states(node, is_timed=by_events and not by_clock)
    if node.python_parts:
        return PythonWindowOperator(
            why="classes of Python",
            shuffle=keys,
            states=states,
            by_events=by_events,
            by_clock=by_clock,
            runs_before=runs_before,
            has_late=has_late,
        )
    return KernelWindowOperator(
        kernel="window.WindowOperator",
        why="triggers, evictors and lateness as in Flink's window operator",
        shuffle=keys,
        states=states,
        by_events=by_events,
        by_clock=by_clock,
        runs_before=runs_before,
        has_late=has_late,
    )


@chooser(LateRows)
def late_rows(node: LateRows, query: QueryPlan) -> Native:
    """The rows that came too late for a window operator."""
    return Native(operators="Filter", why="the window operator hands late rows on")


def waits_for_events(node: WindowOperator) -> bool:
    """Whether the watermark brings something about."""
    own = any(isinstance(t, PythonTrigger) for t in triggers(node.trigger)) and node.time_attribute_index >= 0
    return node.assigner.is_event_time or own or any(t.uses_watermark for t in triggers(node.trigger))


def waits_for_clock(node: WindowOperator) -> bool:
    """Whether the clock brings something about."""
    by_clock = not node.assigner.is_event_time and not isinstance(node.assigner, GlobalWindows)
    return by_clock or any(t.uses_clock for t in triggers(node.trigger))


def _reads_windows(node: WindowOperator, query: QueryPlan) -> bool:
    """Whether what other window operators emit comes to ``node``, in event time."""
    is_timed = any(isinstance(source, WatermarkAssigner) for source in query.plan.upstream([node]))
    return is_timed and carries_causes(query.plan, query.input(node))


def _states(node: WindowOperator, *, is_timed: bool) -> tuple[StateLayout, ...]:
    held = "windows, accumulators, triggers and timers"
    states = [with_ttl("ValueState", "windows", held, node.ttl_ms())]
    if not node.python_parts:
        states.append(with_ttl("MapState", "rows", "rows of windows, where they are kept", node.ttl_ms()))
    return tuple(until_watermark(s.kind, s.name, s.holds) if is_timed else s for s in states)


def _obstacle(node: WindowOperator, query: QueryPlan) -> str | None:
    """Why an operator takes a kernel, also in a batch; ``None``: Spark groups by itself."""
    source = query.input(node)
    if carries_late_rows(query.plan, source) and not _reads_windows(node, query):
        return "reads rows that are late only for what follows"
    match node:
        case WindowOperator(function=AggregateFunction(agg_calls=calls)):
            row: LogicalType = source.output_type
            foreign = next((call for call in calls if not is_native_call(call, row)), None)
            if foreign is not None:
                return f"computes {function_name(foreign)}, which Spark has not or has otherwise"
        case _:
            return "hands on rows, or makes one of two"
    if not isinstance(node.assigner, (TumblingEventTimeWindows, SlidingEventTimeWindows)):
        return "has windows that merge, or do not end by event time"
    if not node.assigner.is_event_time:
        return "has windows that end by the clock"
    if not isinstance(node.trigger, EventTimeTrigger) or node.lateness_ms:
        return "may fire a window more than once"
    if node.evictor is not None:
        return "evicts rows"
    return "counts firings" if {"WindowFiring", "KeyFiring"} & set(node.properties) else None


def _aggregation(node: WindowOperator, query: QueryPlan) -> WindowAggregation:
    assert isinstance(node.function, AggregateFunction)
    time = query.input(node).output_type.field_types[node.time_attribute_index]
    return WindowAggregation(
        tuple(node.keys),
        tuple(node.function.agg_calls),
        TimeAttributeWindowing(_window(node), time, node.time_attribute_index, True),
        (),
        _CLOCK,
        node.output_type,
    )


def _window(node: WindowOperator) -> TumblingWindow | HoppingWindow:
    match node.assigner:
        case SlidingEventTimeWindows(size=size, slide=slide, offset=offset):
            return HoppingWindow(size, slide, offset)
        case TumblingEventTimeWindows(size=size, offset=offset):
            return TumblingWindow(size, offset)
    raise TypeError(f"{type(node.assigner).__name__} are no windows of one size")

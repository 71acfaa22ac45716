"""The legacy ``GROUP BY TUMBLE(…)``, ``HOP(…)`` and ``SESSION(…)``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....plan.document import Plan
from ....plan.durations import parse_iso_duration
from ....plan.errors import UnsupportedError
from ....plan.nodes import GroupWindowAggregate, PythonGroupWindowAggregate
from ....plan.specs import (
    AggregateCall,
    GroupWindow,
    HoppingWindow,
    SessionGroupWindow,
    SessionWindow,
    SlidingGroupWindow,
    TimeAttributeWindowing,
    TimeField,
    TumblingGroupWindow,
    TumblingWindow,
    WindowSpec,
)
from ....plan.types import LogicalType
from ...aggregate_functions import check_calls
from ..known.emission import emission_of
from ..query import QueryPlan, chooser
from ..steps import Kernel, accumulators, with_ttl
from ..watermarks import by_watermark
from ..windows import KernelSessions, KernelWindows, WindowAggregation, check_merges, clock_of, kernel_windows


class KernelCountWindows(Kernel, kw_only=True):
    """Windows of ``size`` rows of a key, one every ``slide`` rows, which emit ``calls`` when they are full."""

    grouping: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    output_type: LogicalType
    size: int
    slide: int


def _check(node: GroupWindowAggregate, plan: Plan, options: Mapping[str, str]) -> None:
    check_calls(node.agg_calls)
    if counts_rows(node):
        check_count_windows(node)
        return
    windowing = windowing_of(node)
    check_merges(windowing, node.agg_calls)
    emission_of(node, windowing.is_proctime, options)


GroupWindows = GroupWindowAggregate | PythonGroupWindowAggregate


def counts_rows(node: GroupWindows) -> bool:
    """Whether windows have so many rows."""
    window = node.window
    return isinstance(window, (TumblingGroupWindow, SlidingGroupWindow)) and not window.is_time_window


def check_count_windows(node: GroupWindows) -> None:
    """Raise :class:`UnsupportedError` for windows of rows that are counted in another order than they come."""
    if not _time_field(node.window).field_type.is_proctime:
        raise UnsupportedError("group windows that count rows in event time", hint="let them be on processing time")
    if node.need_retraction:
        raise UnsupportedError("group windows that count rows of which some are taken back")


def count_windows(
    node: GroupWindows, query: QueryPlan, calls: tuple[AggregateCall, ...], output_type: LogicalType
) -> KernelCountWindows:
    """The step of windows that count rows."""
    window = node.window
    assert isinstance(window, (TumblingGroupWindow, SlidingGroupWindow))
    return KernelCountWindows(
        kernel="aggregate.CountWindows",
        why="Spark has no windows that count rows",
        shuffle=query.keys(node),
        states=(with_ttl("ValueState", "windows", f"how many rows came, of open windows {accumulators(calls)}", 0),),
        grouping=tuple(node.grouping),
        calls=calls,
        output_type=output_type,
        size=int(window.size),
        slide=int(window.slide if isinstance(window, SlidingGroupWindow) else window.size),
    )


def _time_field(window: GroupWindow) -> TimeField:
    assert isinstance(window, (TumblingGroupWindow, SlidingGroupWindow))
    return window.time_field


def _real_time(node: GroupWindowAggregate, query: QueryPlan) -> str | None:
    return None if counts_rows(node) else by_watermark(node, query)


@chooser(GroupWindowAggregate, check=_check, real_time=_real_time)
def group_window_aggregate(
    node: GroupWindowAggregate, query: QueryPlan
) -> KernelWindows | KernelSessions | KernelCountWindows:
    """One row a key and window when the window closes, and before and after that as the options say."""
    if counts_rows(node):
        return count_windows(node, query, tuple(node.agg_calls), node.output_type)
    windowing = windowing_of(node)
    aggregation = WindowAggregation(
        tuple(node.grouping),
        tuple(node.agg_calls),
        windowing,
        tuple(node.named_window_properties),
        clock_of(node, windowing.time_attribute_type, query),
        node.output_type,
        emission_of(node, windowing.is_proctime, query.options),
        panes=True,
    )
    return kernel_windows(node, aggregation, query, "all functions, sessions and retractions", query.input(node))


def windowing_of(node: GroupWindows) -> TimeAttributeWindowing:
    """The windows as windowing functions describe theirs."""
    window, time = _window(node.window)
    return TimeAttributeWindowing(window, time.field_type, time.field_index, time.field_type.is_rowtime)


def _window(window: GroupWindow) -> tuple[WindowSpec, TimeField]:
    """The same window as windowing functions describe it, and its time attribute."""
    match window:
        case TumblingGroupWindow(time_field=time, is_time_window=True, size=size):
            return TumblingWindow(_iso(size)), time
        case SlidingGroupWindow(time_field=time, is_time_window=True, size=size, slide=slide):
            return HoppingWindow(_iso(size), _iso(slide)), time
        case SessionGroupWindow(time_field=time, gap=gap):
            return SessionWindow(_iso(gap)), time
    raise UnsupportedError("group windows that count rows")


def _iso(duration: Any) -> str:
    """The duration's text, checked."""
    parse_iso_duration(str(duration))
    return str(duration)

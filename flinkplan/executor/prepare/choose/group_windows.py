"""The legacy ``GROUP BY TUMBLE(…)``, ``HOP(…)`` and ``SESSION(…)``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....plan.document import Plan
from ....plan.durations import parse_iso_duration
from ....plan.errors import UnsupportedError
from ....plan.nodes import GroupWindowAggregate, PythonGroupWindowAggregate
from ....plan.specs import (
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
from ...aggregate_functions import check_calls
from ..known.emission import emission_of
from ..query import QueryPlan, chooser
from ..watermarks import by_watermark
from ..windows import KernelSessions, KernelWindows, WindowAggregation, check_merges, clock_of, kernel_windows


def _check(node: GroupWindowAggregate, plan: Plan, options: Mapping[str, str]) -> None:
    check_calls(node.agg_calls)
    windowing = windowing_of(node)
    check_merges(windowing, node.agg_calls)
    emission_of(node, windowing.is_proctime, options)


@chooser(GroupWindowAggregate, check=_check, real_time=by_watermark)
def group_window_aggregate(node: GroupWindowAggregate, query: QueryPlan) -> KernelWindows | KernelSessions:
    """One row a key and window when the window closes, and before and after that as the options say."""
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


def windowing_of(node: GroupWindowAggregate | PythonGroupWindowAggregate) -> TimeAttributeWindowing:
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

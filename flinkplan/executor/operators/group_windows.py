"""The legacy ``GROUP BY TUMBLE(…)``, ``HOP(…)`` and ``SESSION(…)``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...plan.document import Plan
from ...plan.durations import parse_iso_duration
from ...plan.errors import UnsupportedError
from ...plan.nodes import GroupWindowAggregate
from ...plan.specs import (
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
from ..aggregate_functions import check_calls
from ..context import TranslationContext
from ..emission import emission_of
from ..event_time import with_event_time
from ..execution import Execution, QueryPlan, window_kernel
from ..registry import by_watermark, translator
from ..stream import Stream
from ..window_folding import WindowAggregation
from ..window_kernels import aggregate_windows, check_merges
from ..windows import Clock


def _runs(node: GroupWindowAggregate, query: QueryPlan) -> Execution:
    return window_kernel(node, windowing_of(node), node.agg_calls, query, "all functions, sessions and retractions")


def _check(node: GroupWindowAggregate, plan: Plan, options: Mapping[str, str]) -> None:
    check_calls(node.agg_calls)
    windowing = windowing_of(node)
    check_merges(windowing, node.agg_calls)
    emission_of(node, windowing.is_proctime, options)


@translator(GroupWindowAggregate, runs=_runs, check=_check, real_time=by_watermark)
def group_window_aggregate(
    node: GroupWindowAggregate, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """One row a key and window when the window closes, and before and after that as the options say."""
    (stream,) = inputs
    windowing = windowing_of(node)
    what = WindowAggregation(
        node.grouping,
        node.agg_calls,
        windowing,
        node.named_window_properties,
        Clock.of(node, windowing.time_attribute_type, context),
        node.output_type,
        emission_of(node, windowing.is_proctime, context.options),
        panes=True,
    )
    return aggregate_windows(context, stream if windowing.is_proctime else with_event_time(stream), what)


def windowing_of(node: GroupWindowAggregate) -> TimeAttributeWindowing:
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

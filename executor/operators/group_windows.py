"""The legacy ``GROUP BY TUMBLE(…)``, ``HOP(…)`` and ``SESSION(…)``.

Options of emission before a window's end change what is seen on the way, not the end; they are left out.
"""

from __future__ import annotations

from typing import Any

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
from ..context import TranslationContext
from ..event_time import with_event_time
from ..physical import TIMER, Execution, Query, kernel, until_watermark
from ..registry import translator
from ..stream import Stream
from ..window_kernels import aggregate_windows
from ..windows import Clock


def _runs(node: GroupWindowAggregate, query: Query) -> Execution:
    rows = until_watermark("ListState", "rows", "the rows of open windows")
    return kernel(node, query, "time.WindowAggregate", "all functions, sessions and retractions", rows, TIMER)


@translator(GroupWindowAggregate, runs=_runs)
def group_window_aggregate(
    node: GroupWindowAggregate, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """One row a key and window, when the window closes."""
    (stream,) = inputs
    window, time = _window(node.window)
    if not time.field_type.is_rowtime:
        raise UnsupportedError("group windows over processing time")
    return aggregate_windows(
        context,
        with_event_time(stream),
        node.grouping,
        node.agg_calls,
        TimeAttributeWindowing(window, time.field_type, time.field_index, True),
        node.named_window_properties,
        Clock.of(node, time.field_type),
        node.output_type,
    )


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

"""Window operators of the DataStream API that come to Spark's own grouping, where all input is there at once.

In a batch a window is nothing but its rows that are not late, as long as it fires once, at its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..plan.nodes import WindowOperator
from ..plan.specs import (
    AggregateFunction,
    EventTimeTrigger,
    HoppingWindow,
    SlidingEventTimeWindows,
    TimeAttributeWindowing,
    TumblingEventTimeWindows,
    TumblingWindow,
)
from ..plan.types import LogicalType
from .aggregate_functions import function_name
from .context import TranslationContext
from .native_aggregates import group_windows, is_native_call
from .stream import BEHIND, CAUSE_ROW, CAUSE_TIME, END, LATENESS, SEQUENCE, TIME, Stream
from .windows import Clock

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def obstacle_of_windows(node: WindowOperator, row: LogicalType) -> str | None:
    """Why an operator over rows of a type takes a kernel, also in a batch; ``None``: Spark groups by itself."""
    match node:
        case WindowOperator(function=AggregateFunction(agg_calls=calls)):
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


def group_natively(node: WindowOperator, stream: Stream, context: TranslationContext) -> tuple[list[Column], DataFrame]:
    """The columns of the function, and the output that they are of, as that of the kernel."""
    from pyspark.sql import functions as F

    assert isinstance(node.function, AggregateFunction)
    time = stream.type.field_types[node.time_attribute_index]
    windowing = TimeAttributeWindowing(_window(node), time, node.time_attribute_index, True)
    columns, frame = group_windows(stream, node.keys, node.function.agg_calls, windowing, _CLOCK, context)
    last = frame[END] - 1
    hidden = {
        SEQUENCE: F.unix_millis(frame[TIME]) + F.lit(BEHIND),
        LATENESS: last - 1,
        CAUSE_TIME: last,
        CAUSE_ROW: F.lit(-1).cast("bigint"),
    }
    return columns, frame.select("*", *(column.alias(name) for name, column in hidden.items()))


_CLOCK = Clock("UTC", False)
"""Windows of the DataStream API know no time zone."""


def _window(node: WindowOperator) -> TumblingWindow | HoppingWindow:
    match node.assigner:
        case SlidingEventTimeWindows(size=size, slide=slide, offset=offset):
            return HoppingWindow(size, slide, offset)
        case TumblingEventTimeWindows(size=size, offset=offset):
            return TumblingWindow(size, offset)
    raise TypeError(f"{type(node.assigner).__name__} are no windows of one size")

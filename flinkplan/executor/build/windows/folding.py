"""Rows of windows that are folded by window in each task, before they are sent to their keys.

Where no function can tell the difference, what a kernel keeps of a window and when it emits it is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....plan.record import Record, replace
from ....plan.specs import TimeAttributeWindowing, TumblingWindow
from ...jvm.spark import F, fields, sql
from ...prepare.windows import WindowAggregation
from ..accumulators import java_calls
from ..context import TranslationContext
from ..kernels import key_columns
from ..stream import END, LATENESS, SEQUENCE, START, Stream
from ..time.event_time import drop_late, is_on_time
from .assignment import is_last_window, last_end, slice_end, timer, window_starts, with_windows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SLICE, _LATE, _ROWS = "__slice", "__late", "rows"


class WindowRows(Record):
    """What the kernel of an aggregation reads: ``calls`` are over its columns.

    ``count``: the column of how many rows a row stands for; -1: each for itself.  ``last``: the column of whether a row
    comes with the last of its windows; -1: each row comes once.
    """

    frame: DataFrame
    calls: Any
    count: int = -1
    last: int = -1


def fold_rows(context: TranslationContext, stream: Stream, what: WindowAggregation) -> WindowRows:
    """The rows of each key and window of a micro-batch, folded."""
    is_timed = LATENESS in stream.hidden and not what.windowing.is_proctime
    is_assigned = isinstance(what.windowing, TimeAttributeWindowing)
    is_sliced = is_assigned and not isinstance(what.windowing.window, TumblingWindow)
    return (_by_slice if is_sliced else _by_window)(context, stream, what, is_timed)


def _by_window(context: TranslationContext, stream: Stream, what: WindowAggregation, is_timed: bool) -> WindowRows:
    """Of rows that belong to one window each."""
    windowed = with_windows(stream, what.windowing, what.clock)
    if is_timed:
        fires = timer(what.clock, windowed.frame[END] - 1)
        last = is_last_window(windowed, what.windowing, what.clock)
        windowed = drop_late(windowed, fires, last, context)
    frame, calls, keys = _folded(context, windowed, what, (START, END), is_timed)
    return WindowRows(frame, context.runtime.aggregate.PreAggregate.merged(keys, calls), keys)


def _by_slice(context: TranslationContext, stream: Stream, what: WindowAggregation, is_timed: bool) -> WindowRows:
    """Of rows that belong to several windows: once for each of the slices that these are made of.

    Rows that come too late for any window of their slice stay alone.
    """

    assert isinstance(what.windowing, TimeAttributeWindowing)
    end = slice_end(stream, what.windowing, what.clock)
    units = [end.alias(_SLICE)]
    if is_timed:
        first_fires = timer(what.clock, end - 1)
        units.append(F.when(~is_on_time(stream, first_fires), stream.frame[SEQUENCE]).alias(_LATE))
    sliced = replace(stream, frame=stream.frame.select("*", *units))
    frame, calls, units_end = _folded(context, sliced, what, (_SLICE, _LATE) if is_timed else (_SLICE,), is_timed)
    window, local = what.windowing.window, frame[_SLICE] - 1
    names = frame.columns
    keys = max(1, len(what.grouping))
    windows = F.inline(window_starts(window, local)).alias(START, END)
    exploded = frame.select(*names[:keys], windows, *names[keys:])
    if is_timed:
        fires = timer(what.clock, exploded[END] - 1)
        passes = exploded[_LATE].isNull() | (exploded[LATENESS] < fires)
        last = exploded[END] == last_end(window, exploded[_SLICE] - 1)
        by = F.coalesce(exploded[LATENESS] - fires, F.lit(0)).cast("bigint")
        exploded = exploded.where(sql.Column(context.late_rows.filterBy(passes._jc, by._jc, last._jc)))
    kept = exploded.select(*names[:keys], START, END, *names[units_end:])
    return WindowRows(kept, context.runtime.aggregate.PreAggregate.merged(keys + 2, calls), keys + 2)


def _folded(
    context: TranslationContext, stream: Stream, what: WindowAggregation, units: Sequence[str], is_timed: bool
) -> tuple[DataFrame, Any, int]:
    """The rows folded by key and ``units``, the calls that have folded them, and how many columns those are."""
    frame = stream.frame
    used = sorted({i for call in what.calls for i in (*call.arg_list, call.filter_arg) if i >= 0})
    arguments = [stream.column(i).alias(f"a{i}") for i in used]
    numbers = [LATENESS, SEQUENCE] if is_timed else [SEQUENCE]
    rows = fields.select(frame, [*key_columns(stream, what.grouping), *units, *arguments, *numbers])
    keys = max(1, len(what.grouping)) + len(units)
    position = {index: keys + at for at, index in enumerate(used)}
    calls = java_calls(context, context.java_schema(rows.schema), stream, what.calls, position)
    return context.frame(context.runtime.aggregate.PreAggregate.run(rows._jdf, keys, calls)), calls, keys

"""Windows: which ones a row belongs to, and when they fire.

Within a plan's windows, time is the wall clock of ``table.local-time-zone``, counted in milliseconds as if it were
UTC.  Source: Flink's ``TimeWindowUtil`` and slice assigners.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from ....plan.errors import UnsupportedError
from ....plan.record import replace
from ....plan.specs import (
    CumulativeWindow,
    HoppingWindow,
    TimeAttributeWindowing,
    TumblingWindow,
    WindowAttachedWindowing,
    WindowingStrategy,
    WindowSpec,
)
from ...jvm.spark import F, T, sql
from ...prepare.windows import Clock
from ..context import TranslationContext
from ..stream import END, LATENESS, SEQUENCE, START, TICK, Stream

if TYPE_CHECKING:
    from pyspark.sql import Column


def local_time(clock: Clock, time: Column) -> Column:
    """The wall clock (ms) of a time attribute."""

    return _convert(clock, "Zones.toLocal", F.unix_millis(time))


def timer(clock: Clock, local: Column) -> Column:
    """The instant (ms) at which a window fires whose last millisecond is ``local``."""
    return _convert(clock, "Zones.toTimer", local)


def _convert(clock: Clock, method: str, millis: Column) -> Column:

    from ...expressions.jvm import invoke

    return millis if clock.java_zone is None else invoke(method, T.LongType(), millis, F.lit(clock.java_zone))


def window_property(clock: Clock, kind: str, start: Column, end: Column) -> Column:
    """A window property as a column: WindowStart, WindowEnd, Rowtime or Proctime."""

    match kind:
        case "WindowStart":
            return F.timestamp_millis(start)
        case "WindowEnd":
            return F.timestamp_millis(end)
        case "Rowtime":
            return F.timestamp_millis(_convert(clock, "Zones.toInstant", end - 1))
        case "Proctime":
            return F.current_timestamp()
    raise UnsupportedError(f"the window property {kind}")


def window_starts(window: WindowSpec, local: Column) -> Column:
    """The array of (start, end) pairs of the windows that ``local`` (ms) falls into, in Flink's order."""

    match window:
        case TumblingWindow():
            start = _floor(local, window.offset_ms, window.size_ms)
            return F.array(_pair(start, start + window.size_ms))
        case HoppingWindow():
            last = _floor(local, window.offset_ms, window.slide_ms)
            starts = F.sequence(last, last - (window.size_ms - 1), F.lit(-window.slide_ms).cast("bigint"))
            kept = F.filter(starts, lambda s: s + window.size_ms > local)
            return F.transform(kept, lambda s: _pair(s, s + window.size_ms))
        case CumulativeWindow():
            start = _floor(local, window.offset_ms, window.size_ms)
            first = start + (F.floor((local - start) / window.step_ms) + 1) * window.step_ms
            ends = F.sequence(first, start + window.size_ms, F.lit(window.step_ms).cast("bigint"))
            return F.transform(ends, lambda e: _pair(start, e))
    raise UnsupportedError(f"windows of the kind {type(window).__name__}")


def _pair(start: Column, end: Column) -> Column:

    return F.struct(start.cast("bigint").alias("start"), end.cast("bigint").alias("end"))


def _floor(local: Column, offset: int, size: int) -> Column:
    """The latest multiple of ``size``, moved by ``offset``, that is not after ``local``."""

    return local - F.pmod(local - F.lit(offset).cast("bigint"), F.lit(size).cast("bigint"))


def time_of(stream: Stream, windowing: TimeAttributeWindowing) -> Column:
    """The time by which a row belongs to windows: its event time, or the batch's time."""

    if READ in stream.frame.columns:
        return stream.frame[READ]
    return F.current_timestamp() if windowing.is_proctime else stream.column(windowing.time_attribute_index)


READ = "__read"
"""TIMESTAMP: what a clock shows that goes on; present where it is read once for all that is made of a row's time."""


def with_time_read(stream: Stream, windowing: WindowingStrategy, context: TranslationContext) -> Stream:
    """The rows, and behind them the time of each, if they belong to windows by a clock that goes on meanwhile."""

    if not (context.tells_time and isinstance(windowing, TimeAttributeWindowing) and windowing.is_proctime):
        return stream
    return replace(stream, frame=stream.frame.select("*", F.current_timestamp().alias(READ)))


def with_windows(stream: Stream, windowing: WindowingStrategy, clock: Clock) -> Stream:
    """The rows with the columns ``__start`` and ``__end`` (ms) behind, once per window they belong to."""

    match windowing:
        case TimeAttributeWindowing():
            windows = window_starts(windowing.window, local_time(clock, time_of(stream, windowing)))
            if isinstance(windowing.window, TumblingWindow):
                frame = stream.frame.select("*", windows[0]["start"].alias(START), windows[0]["end"].alias(END))
            else:
                if TICK in stream.hidden:
                    none = F.array(_pair(F.lit(0), F.lit(0)))
                    windows = F.when(stream.frame[TICK].isNull(), windows).otherwise(none)
                frame = stream.frame.select("*", F.inline(windows).alias(START, END))
        case WindowAttachedWindowing():
            end = F.unix_millis(stream.column(windowing.window_end))
            start = F.unix_millis(stream.column(windowing.window_start)) if windowing.window_start >= 0 else None
            if start is None:
                start = end - _size(windowing.window)
            frame = stream.frame.select("*", start.alias(START), end.alias(END))
        case _:
            raise UnsupportedError(f"windowing by {type(windowing).__name__}")
    return replace(stream, frame=frame)


def is_last_window(stream: Stream, windowing: WindowingStrategy, clock: Clock) -> Column:
    """Whether the window that a row comes with is the last of those that it belongs to."""

    if not isinstance(windowing, TimeAttributeWindowing) or isinstance(windowing.window, TumblingWindow):
        return F.lit(True)
    return stream.frame[END] == last_end(windowing.window, local_time(clock, time_of(stream, windowing)))


def last_end(window: WindowSpec, local: Column) -> Column:
    """The end (ms) of the last window that ``local`` (ms) falls into."""
    match window:
        case HoppingWindow():
            return _floor(local, window.offset_ms, window.slide_ms) + window.size_ms
        case TumblingWindow() | CumulativeWindow():
            return _floor(local, window.offset_ms, window.size_ms) + window.size_ms
    raise UnsupportedError(f"windows of the kind {type(window).__name__}")


def slice_place(stream: Stream, windowing: WindowingStrategy, clock: Clock, panes: bool) -> Column:
    """The place (BIGINT) of a row's slice in the order in which Flink merges those of a window.

    The slices of HOP are merged from the latest on, but ``panes``, those of group windows, from the earliest on.
    Those of CUMULATE are merged as they end, and a row that comes later stands behind what is merged by then.
    """

    window = windowing.window
    if not isinstance(windowing, TimeAttributeWindowing) or isinstance(window, TumblingWindow):
        return F.lit(0).cast("bigint")
    end = slice_end(stream, windowing, clock)
    if isinstance(window, HoppingWindow):
        return end if panes else -end
    if LATENESS not in stream.hidden:
        return end
    ended = local_time(clock, F.timestamp_millis(stream.frame[LATENESS])) + 1
    return F.greatest(end, _floor(ended, *_slicing(window)).cast("bigint"))


def local_parts(stream: Stream, windowing: WindowingStrategy, clock: Clock, context: TranslationContext) -> Column:
    """The number (BIGINT) of the rows that Flink's local aggregation folds together before it sends them on.

    It counts where rows carry watermarks, as they do from the source on; behind other operators all are one part.
    """

    if LATENESS not in stream.hidden:
        return F.lit(0).cast("bigint")
    none_yet = F.lit(-(2**63)).cast("bigint")
    columns = (
        F.coalesce(stream.frame[LATENESS], none_yet),
        timer(clock, slice_end(stream, windowing, clock) - 1),
        stream.frame[SEQUENCE],
    )
    phase = context.runtime.time.LocalPhase
    _, size = _slicing(windowing.window)
    return sql.Column(phase.parts(*(c._jc for c in columns), size, clock.java_zone))


def slice_end(stream: Stream, windowing: WindowingStrategy, clock: Clock) -> Column:
    """The wall clock (ms) at which the slice ends that a row belongs to."""

    match windowing:
        case TimeAttributeWindowing(window=window):
            offset, size = _slicing(window)
            end = _floor(local_time(clock, time_of(stream, windowing)), offset, size) + size
            return end.cast("bigint")
        case WindowAttachedWindowing(window_end=end_column):
            return F.unix_millis(stream.column(end_column))
    raise UnsupportedError(f"windowing by {type(windowing).__name__}")


def _slicing(window: WindowSpec) -> tuple[int, int]:
    """By how much the slices that windows are made of are moved, and their length (both in ms)."""
    match window:
        case TumblingWindow():
            return window.offset_ms, window.size_ms
        case HoppingWindow():
            return window.offset_ms, gcd(window.size_ms, window.slide_ms)
        case CumulativeWindow():
            return window.offset_ms, window.step_ms
    raise UnsupportedError(f"slices of windows of the kind {type(window).__name__}")


def _size(window: WindowSpec) -> int:
    match window:
        case TumblingWindow() | HoppingWindow():
            return window.size_ms
    raise UnsupportedError(f"a window of the kind {type(window).__name__} known by its end alone")

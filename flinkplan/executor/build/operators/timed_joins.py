"""Joins that the watermark cleans: in windows, by intervals, and with versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....plan.nodes import IntervalJoin, TemporalJoin, WindowJoin
from ....plan.record import replace
from ....plan.specs import JoinSpec, JoinType
from ...jvm.spark import F, fields
from ...prepare.choose.timed_joins import KernelIntervalJoin, KernelLatestJoin, KernelTemporalJoin, KernelWindowJoin
from ..context import TranslationContext
from ..kernels import boolean_array, condition, key_columns, run_kernel, schema_of
from ..registry import builder
from ..stream import END, KIND, LATENESS, ORDER, RIGHT, SEQUENCE, START, TICK, TIME, Stream
from ..time.event_time import with_event_time
from ..windows.assignment import with_windows
from ..windows.kernels import by_window, emitted, run_timed, window_span
from .joins import join_kind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

LEFT_ROW, RIGHT_ROW = "__left_row", "__right_row"
"""The columns of a kernel's input that hold the rows of either side."""

_BEFORE_ALL = 2**60
"""What takes a sequence number before all others, but not before the end of input if it is behind that."""


@builder(KernelWindowJoin, WindowJoin)
def window_join(
    node: WindowJoin, step: KernelWindowJoin, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """Join the rows that share key and window."""
    left, right = (with_event_time(stream) for stream in inputs)
    left_windowed = with_windows(left, node.left_windowing, step.clock)
    right_windowed = with_windows(right, node.right_windowing, step.clock)
    windowed = (left_windowed, right_windowed)
    frame = _united(node.join_spec, windowed, (START, END), late=step.late)
    frame, keys = by_window(context, frame, _key_width(node.join_spec))
    joined = run_timed(
        context,
        step,
        frame,
        keys,
        columns=schema_of(node.output_type.field_types),
        span=window_span(context, frame, step.clock, False),
        kind=join_kind(context, node.join_spec.join_type),
        match=_match(context, node.join_spec, left, right, node.join_spec.filter_nulls),
    )
    return emitted(left, joined, node.output_type)


@builder(KernelIntervalJoin, IntervalJoin)
def interval_join(
    node: IntervalJoin, step: KernelIntervalJoin, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """Join the rows whose times are within bounds."""
    spec, bounds = node.interval_join_spec.join_spec, node.interval_join_spec.window_bounds
    if step.by_clock:
        left, right = inputs
        timed = (_clocked(left, context), _clocked(right, context))
    else:
        left, right = (with_event_time(stream) for stream in inputs)
        timed = (_timed(left, bounds.left_time_index), _timed(right, bounds.right_time_index))
    frame = _united(spec, timed, (TIME,), late=step.late)
    joined = run_timed(
        context,
        step,
        frame,
        _key_width(spec),
        by_clock=step.by_clock,
        columns=schema_of(node.output_type.field_types),
        lower=bounds.left_lower_bound,
        upper=bounds.left_upper_bound,
        kind=join_kind(context, spec.join_type),
        match=_match(context, spec, left, right, spec.filter_nulls),
    )
    return emitted(left, joined, node.output_type, event_time=not step.by_clock)


@builder(KernelTemporalJoin, TemporalJoin)
def temporal_join(
    node: TemporalJoin, step: KernelTemporalJoin, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """Join each left row with the right side's version of its time; NULL keys are equal, as in Flink."""
    left, right = (with_event_time(stream) for stream in inputs)
    timed = (_timed(left, node.left_time_attribute_index), _timed(right, node.right_time_attribute_index))
    frame = _united(node.join_spec, timed, (TIME,), right_first=step.right_first)
    joined = run_timed(
        context,
        step,
        frame,
        _key_width(node.join_spec),
        columns=schema_of(node.output_type.field_types),
        changelog=left.changelog,
        leftOuter=node.join_spec.join_type is JoinType.LEFT,
        match=_match(context, node.join_spec, left, right, ()),
    )
    return emitted(left, joined, node.output_type, left.changelog)


@builder(KernelLatestJoin, TemporalJoin)
def latest_join(
    node: TemporalJoin, step: KernelLatestJoin, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """Join each left row with the right side's latest row, behind all those of its batch; no key is NULL."""
    left, right = inputs
    spec = node.join_spec
    frame = _united(spec, (left, right), (), right_first=True)
    joined = run_kernel(
        context,
        step,
        frame,
        _key_width(spec),
        columns=schema_of(node.output_type.field_types),
        changelog=left.changelog,
        leftOuter=spec.join_type is JoinType.LEFT,
        match=_match(context, spec, left, right, spec.filter_nulls),
        ttl=step.ttl,
    )
    return Stream(joined, node.output_type, left.changelog)


def _timed(stream: Stream, index: int) -> Stream:
    """The stream with a time attribute in milliseconds behind."""
    return replace(stream, frame=stream.frame.select("*", F.unix_millis(stream.column(index)).alias(TIME)))


def _clocked(stream: Stream, context: TranslationContext) -> Stream:
    """The stream with the time of each row's arrival in milliseconds behind."""
    return replace(stream, frame=stream.frame.select("*", context.arrival().alias(TIME)))


def _key_width(spec: JoinSpec) -> int:
    return max(1, len(spec.left_keys))


def _match(
    context: TranslationContext, spec: JoinSpec, left: Stream, right: Stream, filter_nulls: Sequence[bool]
) -> Any:
    over = condition(context, spec.non_equi_condition, left.type.field_types + right.type.field_types)
    return context.runtime.time.Match(boolean_array(context, filter_nulls), over)


def _united(
    spec: JoinSpec,
    streams: tuple[Stream, Stream],
    extra: Sequence[str],
    right_first: bool = False,
    late: bool = False,
) -> DataFrame:
    """Key, side, one struct a side, the columns ``extra``, and the hidden columns of kernels, in one frame.

    Which of two sources is ahead is left to chance in Flink; here no row is late for the other's sake.
    ``right_first``: all right rows are there before the first left one, whose own watermark then counts.
    ``late``: both sides have the same watermark, by which rows are late.
    """
    left, right = streams
    changelog = left.changelog or right.changelog
    schemas = [schema_of(stream.type.field_types) for stream in streams]

    def shaped(stream: Stream, keys: Sequence[int], is_right: bool) -> DataFrame:
        row: Column = F.struct(*stream.columns)
        sides = [
            (F.lit(None).cast(schemas[0]) if is_right else row).alias(LEFT_ROW),
            (row if is_right else F.lit(None).cast(schemas[1])).alias(RIGHT_ROW),
        ]
        hidden = []
        sequence = fields.field(stream.frame, SEQUENCE)
        if changelog:
            hidden.append((stream.frame[KIND] if stream.changelog else F.lit(0).cast("tinyint")).alias(KIND))
            place = stream.frame[ORDER] if ORDER in stream.hidden else F.lit(0).cast("bigint")
            hidden.append(place.alias(ORDER))
        if right_first or late:
            timed = LATENESS in stream.hidden and (late or not is_right)
            hidden.append((stream.frame[LATENESS] if timed else F.lit(None).cast("bigint")).alias(LATENESS))
            sequence = (sequence - F.lit(_BEFORE_ALL)).alias(SEQUENCE) if right_first and is_right else sequence
        ticks = [TICK] if TICK in stream.hidden else []
        by = [*key_columns(stream, keys), F.lit(is_right).alias(RIGHT)]
        return fields.select(stream.frame, [*by, *sides, *extra, *hidden, sequence, *ticks])

    return shaped(left, spec.left_keys, False).union(shaped(right, spec.right_keys, True))

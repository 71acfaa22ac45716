"""Joins that the watermark cleans: in windows, by intervals, and with versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...plan.document import Plan
from ...plan.errors import UnsupportedError
from ...plan.nodes import IntervalJoin, TemporalJoin, WindowJoin
from ...plan.record import replace
from ...plan.settings import PROCESSING_TIME_JOINS, WAIT_FOR_SNAPSHOT
from ...plan.specs import JoinSpec, JoinType
from ..context import Mode, TranslationContext
from ..event_time import with_event_time
from ..execution import TIMER, Execution, QueryPlan, kernel, until_watermark, windowed_kernel, with_ttl
from ..join_sides import join_kind
from ..jvm.spark import fields
from ..kernels import boolean_array, condition, key_columns, run_kernel, schema_of
from ..registry import by_watermark, translator
from ..stream import END, KIND, LATENESS, ORDER, RIGHT, SEQUENCE, START, TICK, TIME, Stream
from ..window_kernels import by_window, emitted, run_timed, window_span
from ..windows import Clock, with_windows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_SIDES = ("left", "right")

LEFT_ROW, RIGHT_ROW = "__left_row", "__right_row"
"""The columns of a kernel's input that hold the rows of either side."""

_BEFORE_ALL = 2**60
"""What takes a sequence number before all others, but not before the end of input if it is behind that."""


def _runs_window(node: WindowJoin, query: QueryPlan) -> Execution:
    rows = until_watermark("ListState", "rows", "the rows of open windows")
    return windowed_kernel(node, query, "time.WindowJoin", "both sides wait until a window closes", rows, TIMER)


def _runs_interval(node: IntervalJoin, query: QueryPlan) -> Execution:
    states = [until_watermark("MapState", side, "rows by their times, and whether matched") for side in _SIDES]
    why = "a row that is left alone comes out once no match can come"
    return kernel(node, query, "time.IntervalJoin", why, *states, TIMER)


def _runs_temporal(node: TemporalJoin, query: QueryPlan) -> Execution:
    if (ttl := node.snapshot_ttl_ms) is not None:
        latest = with_ttl("ValueState", "right", "the latest row", ttl)
        why = "a row finds at least the snapshot: all that there is when the first batch begins"
        return kernel(node, query, "time.ProcessingTimeTemporalJoin", why, latest)
    left, right = _SIDES
    states = (until_watermark("MapState", left, "rows by their times"), until_watermark("MapState", right, "versions"))
    return kernel(node, query, "time.TemporalJoin", "a row waits for the version of its time", *states, TIMER)


def _check_window(node: WindowJoin, plan: Plan, options: Mapping[str, str]) -> None:
    if node.left_windowing.is_proctime:
        raise UnsupportedError("joins of windows over processing time", hint="Flink has none either")


@translator(WindowJoin, runs=_runs_window, check=_check_window, real_time=by_watermark)
def window_join(node: WindowJoin, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Join the rows that share key and window."""
    left, right = (with_event_time(stream) for stream in inputs)
    clock = Clock.of(node, node.left_windowing.time_attribute_type, context)
    left_windowed = with_windows(left, node.left_windowing, clock)
    right_windowed = with_windows(right, node.right_windowing, clock)
    windowed = (left_windowed, right_windowed)
    frame = _united(node.join_spec, windowed, (START, END), late=_share_watermark(left, right))
    frame, keys = by_window(context, frame, _key_width(node.join_spec))
    joined = run_timed(
        context,
        frame,
        keys,
        "time.WindowJoin",
        columns=schema_of(node.output_type.field_types),
        span=window_span(context, frame, clock, False),
        kind=join_kind(context, node.join_spec.join_type),
        match=_match(context, node.join_spec, left, right, node.join_spec.filter_nulls),
    )
    return emitted(left, joined, node.output_type)


@translator(IntervalJoin, runs=_runs_interval, real_time=by_watermark)
def interval_join(node: IntervalJoin, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Join the rows whose times are within bounds."""
    spec, bounds = node.interval_join_spec.join_spec, node.interval_join_spec.window_bounds
    if bounds.is_event_time:
        left, right = (with_event_time(stream) for stream in inputs)
        timed = (_timed(left, bounds.left_time_index), _timed(right, bounds.right_time_index))
    else:
        left, right = inputs
        timed = (_clocked(left, context), _clocked(right, context))
    late = bounds.is_event_time and _share_watermark(left, right)
    frame = _united(spec, timed, (TIME,), late=late)
    joined = run_timed(
        context,
        frame,
        _key_width(spec),
        "time.IntervalJoin",
        by_clock=not bounds.is_event_time,
        columns=schema_of(node.output_type.field_types),
        lower=bounds.left_lower_bound,
        upper=bounds.left_upper_bound,
        kind=join_kind(context, spec.join_type),
        match=_match(context, spec, left, right, spec.filter_nulls),
    )
    return emitted(left, joined, node.output_type, event_time=bounds.is_event_time)


def _check_temporal(node: TemporalJoin, plan: Plan, options: Mapping[str, str]) -> None:
    if node.is_processing_time and node.snapshot_ttl_ms is None:
        hint = f"Flink has none either; compile with {PROCESSING_TIME_JOINS} = {WAIT_FOR_SNAPSHOT.lower()}"
        raise UnsupportedError("temporal joins in processing time", hint=hint)


def _real_time_temporal(node: TemporalJoin, query: QueryPlan) -> str | None:
    return "it waits for a snapshot, which batches have" if node.is_processing_time else by_watermark(node, query)


@translator(TemporalJoin, runs=_runs_temporal, check=_check_temporal, real_time=_real_time_temporal)
def temporal_join(node: TemporalJoin, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Join each left row with the right side's version of its time; NULL keys are equal, as in Flink."""
    if node.is_processing_time:
        return _joined_with_latest(node, inputs, context)
    left, right = (with_event_time(stream) for stream in inputs)
    timed = (_timed(left, node.left_time_attribute_index), _timed(right, node.right_time_attribute_index))
    frame = _united(node.join_spec, timed, (TIME,), right_first=context.mode is Mode.BOUNDED)
    joined = run_timed(
        context,
        frame,
        _key_width(node.join_spec),
        "time.TemporalJoin",
        columns=schema_of(node.output_type.field_types),
        changelog=left.changelog,
        leftOuter=node.join_spec.join_type is JoinType.LEFT,
        match=_match(context, node.join_spec, left, right, ()),
    )
    return emitted(left, joined, node.output_type, left.changelog)


def _joined_with_latest(node: TemporalJoin, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Join each left row with the right side's latest row, behind all those of its batch; no key is NULL."""
    left, right = inputs
    spec = node.join_spec
    frame = _united(spec, (left, right), (), right_first=True)
    joined = run_kernel(
        context,
        frame,
        _key_width(spec),
        "time.ProcessingTimeTemporalJoin",
        columns=schema_of(node.output_type.field_types),
        changelog=left.changelog,
        leftOuter=spec.join_type is JoinType.LEFT,
        match=_match(context, spec, left, right, spec.filter_nulls),
        ttl=node.snapshot_ttl_ms,
    )
    return Stream(joined, node.output_type, left.changelog)


def _share_watermark(left: Stream, right: Stream) -> bool:
    """Whether the rows of both sides come from one source as they are, so that neither is ahead of the other."""
    carried = LATENESS in left.hidden and LATENESS in right.hidden
    return carried and bool(left.sources) and left.sources == right.sources


def _timed(stream: Stream, index: int) -> Stream:
    """The stream with a time attribute in milliseconds behind."""
    from pyspark.sql import functions as F

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
    from pyspark.sql import functions as F

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

"""Window operators that keep a window's rows until it closes: kernels in event time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....plan.nodes import WindowDeduplicate, WindowRank, WindowTableFunction
from ....plan.record import replace
from ....plan.specs import (
    AggregateCall,
    CumulativeWindow,
    HoppingWindow,
    SessionWindow,
    SortField,
    TimeAttributeWindowing,
    WindowingStrategy,
)
from ....plan.types import LogicalType
from ...jvm.spark import F, T, fields, sql
from ...prepare.choose.window_functions import KernelSessionRows
from ...prepare.choose.window_ranks import KernelWindowRank
from ...prepare.known.input_size import is_read_by_several
from ...prepare.known.key_types import key_type
from ...prepare.steps import Kernel
from ...prepare.watermarks import announcing, waits_for_watermark
from ...prepare.windows import Clock, KernelSessions, KernelWindows, WindowAggregation
from ..accumulators import java_calls
from ..context import TranslationContext
from ..kernels import int_array, key_columns, key_values, made_kernel, run, schema_of, sort_fields
from ..stream import END, KIND, LATENESS, ORDER, ROW, SEQUENCE, START, TARGET, TICK, Stream, column_name
from .assignment import (
    is_last_window,
    local_parts,
    local_time,
    slice_place,
    time_of,
    window_property,
    with_time_read,
    with_windows,
)
from .folding import WindowRows, fold_rows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

SLICE, PART, LAST = "__slice", "__part", "__last"


def run_timed(
    context: TranslationContext, step: Kernel, frame: DataFrame, keys: int, /, by_clock: bool = False, **spec: Any
) -> DataFrame:
    """The output of a kernel that waits for the watermark, or goes ``by_clock``; the rest as in :func:`run_kernel`."""
    kernel = made_kernel(context, step, frame, **spec).counting(context.late_rows)
    if by_clock and not context.tells_time:
        kernel.inProcessingTime()
    upstream = context.plan.upstream([context.node] if context.node else [])
    if context.is_batch and is_read_by_several(upstream, context.variables):
        kernel.fromSeveralTasks()
    if TICK in frame.columns:
        frame = _sent_to_all(context, frame, keys)
        kernel.announced(*_announcements(context))
    return run(context, frame, keys, kernel)


def _announcements(context: TranslationContext) -> tuple[Any, bool]:
    """The assigners, or scans, whose watermarks the node goes by, none where it stands behind an operator that passes
    watermarks on, and whether it passes them on."""
    node, query = context.node, context.query
    assert node is not None
    sources = sorted({source.id for source in announcing(node, query) if not waits_for_watermark(source, query)})
    behind = (n for n in context.plan.nodes if n is not node and waits_for_watermark(n, query))
    return int_array(context, sources), any(node in announcing(n, query) for n in behind)


def _sent_to_all(context: TranslationContext, frame: DataFrame, keys: int) -> DataFrame:
    """The rows, each watermark once for each partition of the operator behind."""

    is_tick = frame[TICK].isNotNull()
    targets = sql.Column(context.runtime.realtime.Targets.column(is_tick._jc))
    key = [F.when(~is_tick, frame[name]).alias(name) for name in frame.columns[:keys]]
    return frame.select(*key, *frame.columns[keys:], F.explode(targets).alias(TARGET))


def timed_input(stream: Stream, keys: Sequence[int], columns: Sequence[Column]) -> DataFrame:
    """The key columns, then ``columns``, then the hidden columns.

    Without :data:`ORDER`, for states hold such rows as they are: what emits changes of rows with times retracts first.
    """
    hidden = (name for name in stream.hidden if name != ORDER)
    return fields.select(stream.frame, [*key_columns(stream, keys), *columns, *hidden])


def aggregation(
    context: TranslationContext,
    stream: Stream,
    calls: Sequence[AggregateCall],
    position: dict[int, int],
    schema: Any,
    slices: int | None = None,
) -> Any:
    """The calls over a kernel's input, in which the stream's columns stand at ``position``, in ``slices`` if there."""
    return context.runtime.aggregate.Aggregation(java_calls(context, schema, stream, calls, position, slices))


def row_order(context: TranslationContext, schema: StructType, fields: Sequence[SortField]) -> Any:
    """An ORDER BY over rows of ``schema``."""
    return context.runtime.row.RowOrder(context.java_schema(schema), sort_fields(context, fields))


def window_span(context: TranslationContext, frame: DataFrame, clock: Clock, session: bool) -> Any:
    """Where a kernel finds a row's window."""
    columns = frame.columns
    return context.runtime.time.WindowSpan(columns.index(START), columns.index(END), session, clock.java_zone)


def by_window(context: TranslationContext, frame: DataFrame, keys: int) -> tuple[DataFrame, int]:
    """A kernel's input that has the windows of its rows, and how many key columns stand at its head.

    In a batch each window of a key is a key of its own: windows are worked on side by side, and one at a time is kept.
    """
    if not context.is_batch:
        return frame, keys
    bounds = [frame[name].alias(f"{name}_key") for name in (START, END)]
    return frame.select(*frame.columns[:keys], *bounds, *frame.columns[keys:]), keys + len(bounds)


def with_spans(stream: Stream, windowing: WindowingStrategy, clock: Clock) -> Stream:
    """As :func:`with_windows`, and for sessions the window of each row alone."""

    window = windowing.window
    if not isinstance(window, SessionWindow) or not isinstance(windowing, TimeAttributeWindowing):
        return with_windows(stream, windowing, clock)
    local = local_time(clock, time_of(stream, windowing))
    gap = F.lit(window.gap_ms).cast("bigint")
    frame = stream.frame.select("*", local.alias(START), (local + gap).alias(END))
    return replace(stream, frame=frame)


def aggregate_windows(context: TranslationContext, step: KernelWindows, stream: Stream) -> Stream:
    """One row a key and window, when the window closes, of whatever functions and row kinds."""
    what, when = step.aggregation, step.aggregation.emission
    stream = with_time_read(stream, what.windowing, context)
    rows = fold_rows(context, stream, what) if step.folds_rows else _rows(context, stream, what)
    columns, results = _output(stream, what)
    result = run_timed(
        context,
        step,
        rows.frame,
        max(1, len(what.grouping)),
        by_clock=what.windowing.is_proctime,
        columns=columns,
        results=results,
        span=window_span(context, rows.frame, what.clock, False),
        aggregation=context.runtime.aggregate.Aggregation(rows.calls),
        keyed=bool(what.grouping),
        emission=context.runtime.time.Emission(when.early, when.late, when.lateness, step.folds),
        count=rows.count,
        last=rows.last,
    )
    return _windows_of(stream, result, what)


def aggregate_sessions(context: TranslationContext, step: KernelSessions, stream: Stream) -> Stream:
    """One row a key and session, when the session closes."""
    what = step.aggregation
    stream = with_time_read(stream, what.windowing, context)
    rows = _rows(context, stream, what)
    columns, _ = _output(stream, what)
    result = run_timed(
        context,
        step,
        rows.frame,
        max(1, len(what.grouping)),
        by_clock=what.windowing.is_proctime,
        columns=columns,
        span=window_span(context, rows.frame, what.clock, True),
        aggregation=context.runtime.aggregate.Aggregation(rows.calls),
        keyed=bool(what.grouping),
    )
    return _windows_of(stream, result, what)


def _output(stream: Stream, what: WindowAggregation) -> tuple[StructType, StructType]:
    """The columns that a kernel emits (its key, the results, the window's bounds), and the results alone."""
    key_types = [stream.type.field_types[g] for g in what.grouping]
    results = schema_of([call.type for call in what.calls], len(key_types))
    columns = schema_of([key_type(t) for t in key_types])
    for field in results:
        columns = columns.add(field)
    return columns.add(START, T.LongType()).add(END, T.LongType()), results


def _windows_of(stream: Stream, result: DataFrame, what: WindowAggregation) -> Stream:
    """What a kernel has emitted, as the node's rows."""
    key_types = [stream.type.field_types[g] for g in what.grouping]
    start, end = result[START], result[END]
    values = [result[column_name(i)] for i in range(len(what.grouping) + len(what.calls))]
    values[: len(key_types)] = key_values(values[: len(key_types)], key_types)
    values += [window_property(what.clock, p.property.kind, start, end) for p in what.properties]
    named = [c.alias(column_name(i)) for i, c in enumerate(values)]
    hidden = [name for name in (KIND, ORDER, SEQUENCE, TICK) if name in result.columns]
    rows = result.select(*named, *hidden)
    return emitted(stream, rows, what.output_type, what.emission.updates, not what.windowing.is_proctime)


def _rows(context: TranslationContext, stream: Stream, what: WindowAggregation) -> WindowRows:
    """Each row in each of its windows."""
    if what.has_local_phase:
        part = local_parts(stream, what.windowing, what.clock, context)
        stream = replace(stream, frame=stream.frame.select("*", part.alias(PART)))
    windowed = with_spans(stream, what.windowing, what.clock)
    used = sorted({i for call in what.calls for i in (*call.arg_list, call.filter_arg) if i >= 0})
    bounds = [windowed.frame[START], windowed.frame[END]]
    slices = [] if what.is_session else _slices(windowed, what)
    last = [is_last_window(windowed, what.windowing, what.clock).alias(LAST)] if _is_in_several(what) else []
    columns = [*(windowed.column(i).alias(f"a{i}") for i in used), *bounds, *slices, *last]
    frame = timed_input(windowed, what.grouping, columns)
    keys = max(1, len(what.grouping))
    position = {index: keys + at for at, index in enumerate(used)}
    schema = context.java_schema(frame.schema)
    slice_column = frame.columns.index(SLICE) if slices else None
    calls = java_calls(context, schema, windowed, what.calls, position, slice_column)
    return WindowRows(frame, calls, last=frame.columns.index(LAST) if last else -1)


def _is_in_several(what: WindowAggregation) -> bool:
    """Whether a row comes once for each of several windows."""
    windowing = what.windowing
    return isinstance(windowing, TimeAttributeWindowing) and isinstance(
        windowing.window, HoppingWindow | CumulativeWindow
    )


def _slices(windowed: Stream, what: WindowAggregation) -> list[Column]:
    """The columns of a row's slice and of the part of the slice that it comes with."""

    place = slice_place(windowed, what.windowing, what.clock, what.panes)
    part = windowed.frame[PART] if what.has_local_phase else F.lit(0).cast("bigint")
    return [place.alias(SLICE), part.alias(PART)]


def emitted(
    stream: Stream, frame: DataFrame, output_type: LogicalType, changelog: bool = False, event_time: bool = True
) -> Stream:
    """What a kernel emits that goes by time: nothing of it is late."""
    assert LATENESS not in frame.columns
    return replace(stream, frame=frame, type=output_type, changelog=changelog, event_time=event_time)


def attach_sessions(
    context: TranslationContext, step: KernelSessionRows, stream: Stream, node: WindowTableFunction
) -> Stream:
    """Each row with its session's start, end and time, when the session closes."""

    windowing, clock = node.windowing, step.clock
    window = windowing.window
    assert isinstance(window, SessionWindow)
    windowed = with_spans(with_time_read(stream, windowing, context), windowing, clock)
    keys = window.partition_key_indices or ()
    width = len(stream.type.fields)
    row = F.struct(*windowed.columns).alias(ROW)
    frame = timed_input(windowed, keys, [row, windowed.frame[START], windowed.frame[END]])
    columns = schema_of(stream.type.field_types).add(START, T.LongType()).add(END, T.LongType())
    span = window_span(context, frame, clock, True)
    by_clock = windowing.is_proctime
    result = run_timed(context, step, frame, max(1, len(keys)), by_clock, columns=columns, span=span)
    values = [*(result[column_name(i)] for i in range(width)), *bounds(windowing, clock, result[START], result[END])]
    named = [c.alias(column_name(i)) for i, c in enumerate(values)]
    hidden = [name for name in (SEQUENCE, TICK) if name in result.columns]
    return emitted(stream, result.select(*named, *hidden), node.output_type, event_time=not by_clock)


def bounds(windowing: WindowingStrategy, clock: Clock, start: Column, end: Column) -> list[Column]:
    """What a windowing table function adds to a row: the window's start, end and time."""
    time = "Proctime" if windowing.is_proctime else "Rowtime"
    return [window_property(clock, kind, start, end) for kind in ("WindowStart", "WindowEnd", time)]


def rank_windows(
    context: TranslationContext, step: KernelWindowRank, stream: Stream, node: WindowRank | WindowDeduplicate
) -> Stream:
    """The first rows of each key and window in some order, when the window closes."""

    keys, output_type = step.keys, node.output_type
    windowed = with_windows(stream, node.windowing, step.clock)
    row = F.struct(*windowed.columns).alias(ROW)
    frame = timed_input(windowed, keys, [row, windowed.frame[START], windowed.frame[END]])
    frame, width = by_window(context, frame, max(1, len(keys)))
    ranked = run_timed(
        context,
        step,
        frame,
        width,
        columns=schema_of(output_type.field_types),
        span=window_span(context, frame, step.clock, False),
        rowOrder=row_order(context, schema_of(stream.type.field_types), step.order),
        first=step.first,
        last=step.last,
        numbered=step.numbered,
        latestFirst=step.latest_first,
    )
    return emitted(stream, ranked, output_type)

"""Window operators that keep a window's rows until it closes: kernels in event time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..plan.errors import UnsupportedError
from ..plan.record import replace
from ..plan.specs import (
    AggregateCall,
    SessionWindow,
    SortField,
    TimeAttributeWindowing,
    TumblingWindow,
    WindowingStrategy,
)
from ..plan.types import LogicalType
from .aggregate_functions import function_name, java_calls
from .context import TranslationContext
from .execution import query_of
from .input_size import is_read_by_several
from .jvm.spark import fields
from .kernels import (
    int_array,
    key_columns,
    key_type,
    key_values,
    made_kernel,
    run,
    schema_of,
    sort_fields,
)
from .registry import announcing, waits_for_watermark
from .stream import END, KIND, LATENESS, ORDER, ROW, SEQUENCE, START, TARGET, TICK, Stream, column_name
from .window_folding import WindowAggregation, WindowRows, fold_rows
from .windows import Clock, local_parts, slice_place, time_of, with_time_read, with_windows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

SLICE, PART = "__slice", "__part"


def run_timed(
    context: TranslationContext, frame: DataFrame, keys: int, name: str, /, by_clock: bool = False, **spec: Any
) -> DataFrame:
    """The output of a kernel that waits for the watermark, or goes ``by_clock``; the rest as in :func:`run_kernel`."""
    kernel = made_kernel(context, frame, name, **spec).counting(context.late_rows)
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
    node, query = context.node, query_of(context)
    assert node is not None
    sources = sorted({source.id for source in announcing(node, query) if not waits_for_watermark(source, query)})
    behind = (n for n in context.plan.nodes if n is not node and waits_for_watermark(n, query))
    return int_array(context, sources), any(node in announcing(n, query) for n in behind)


def _sent_to_all(context: TranslationContext, frame: DataFrame, keys: int) -> DataFrame:
    """The rows, each watermark once for each partition of the operator behind."""
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import functions as F

    is_tick = frame[TICK].isNotNull()
    targets = SparkColumn(context.runtime.realtime.Targets.column(is_tick._jc))
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
    from pyspark.sql import functions as F

    window = windowing.window
    if not isinstance(window, SessionWindow) or not isinstance(windowing, TimeAttributeWindowing):
        return with_windows(stream, windowing, clock)
    local = clock.local(time_of(stream, windowing))
    gap = F.lit(window.gap_ms).cast("bigint")
    frame = stream.frame.select("*", local.alias(START), (local + gap).alias(END))
    return replace(stream, frame=frame)


_NULLS = ("ABSENT", "NULL")
_UNMERGEABLE = frozenset(
    ("FIRST_VALUE", "LAST_VALUE", *(f"JSON_{of}AGG_{nulls}_ON_NULL" for of in ("ARRAY", "OBJECT") for nulls in _NULLS))
)
"""Functions whose results of two parts of a window Flink cannot make one of."""


def check_merges(windowing: WindowingStrategy, calls: Sequence[AggregateCall]) -> None:
    """Refuse what Flink, which makes windows other than TUMBLE of parts, compiles but never runs."""
    if not isinstance(windowing, TimeAttributeWindowing) or isinstance(windowing.window, TumblingWindow):
        return
    for call in calls:
        name = function_name(call)
        if name in _UNMERGEABLE:
            raise UnsupportedError(
                f"{name} in a window that is made of parts, which Flink compiles, but no job with it starts",
                hint="use a TUMBLE window, or MIN, MAX or ARRAY_AGG",
            )


def aggregate_windows(context: TranslationContext, stream: Stream, what: WindowAggregation) -> Stream:
    """One row a key and window, when the window closes, of whatever functions and row kinds."""
    from pyspark.sql.types import LongType

    stream = with_time_read(stream, what.windowing, context)
    rows = fold_rows(context, stream, what) or _rows(context, stream, what)
    frame, keys = rows.frame, max(1, len(what.grouping))
    key_types = [stream.type.field_types[g] for g in what.grouping]
    results = schema_of([call.type for call in what.calls], len(key_types))
    output = schema_of([key_type(t) for t in key_types])
    for field in results:
        output = output.add(field)
    output = output.add(START, LongType()).add(END, LongType())
    span = window_span(context, frame, what.clock, what.is_session)
    calls = context.runtime.aggregate.Aggregation(rows.calls)
    keyed, by_clock = bool(what.grouping), what.windowing.is_proctime
    if what.is_session:
        result = run_timed(
            context,
            frame,
            keys,
            "time.SessionAggregate",
            by_clock,
            columns=output,
            span=span,
            aggregation=calls,
            keyed=keyed,
        )
    else:
        when = what.emission
        result = run_timed(
            context,
            frame,
            keys,
            "time.WindowAggregate",
            by_clock,
            columns=output,
            results=results,
            span=span,
            aggregation=calls,
            keyed=keyed,
            emission=context.runtime.time.Emission(when.early, when.late, when.lateness, context.folds_changes),
            count=rows.count,
        )
    start, end = result[START], result[END]
    values = [result[column_name(i)] for i in range(len(what.grouping) + len(what.calls))]
    values[: len(key_types)] = key_values(values[: len(key_types)], key_types)
    values += [what.clock.property(p.property.kind, start, end) for p in what.properties]
    named = [c.alias(column_name(i)) for i, c in enumerate(values)]
    changelog = what.emission.updates
    hidden = [name for name in (KIND, ORDER, SEQUENCE, TICK) if name in result.columns]
    return emitted(stream, result.select(*named, *hidden), what.output_type, changelog, not by_clock)


def _rows(context: TranslationContext, stream: Stream, what: WindowAggregation) -> WindowRows:
    """Each row in each of its windows."""
    if what.has_local_phase:
        part = local_parts(stream, what.windowing, what.clock, context)
        stream = replace(stream, frame=stream.frame.select("*", part.alias(PART)))
    windowed = with_spans(stream, what.windowing, what.clock)
    used = sorted({i for call in what.calls for i in (*call.arg_list, call.filter_arg) if i >= 0})
    bounds = [windowed.frame[START], windowed.frame[END]]
    slices = [] if what.is_session else _slices(windowed, what)
    columns = [*(windowed.column(i).alias(f"a{i}") for i in used), *bounds, *slices]
    frame = timed_input(windowed, what.grouping, columns)
    keys = max(1, len(what.grouping))
    position = {index: keys + at for at, index in enumerate(used)}
    schema = context.java_schema(frame.schema)
    slice_column = frame.columns.index(SLICE) if slices else None
    return WindowRows(frame, java_calls(context, schema, windowed, what.calls, position, slice_column))


def _slices(windowed: Stream, what: WindowAggregation) -> list[Column]:
    """The columns of a row's slice and of the part of the slice that it comes with."""
    from pyspark.sql import functions as F

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
    context: TranslationContext, stream: Stream, windowing: WindowingStrategy, clock: Clock, output_type: LogicalType
) -> Stream:
    """Each row with its session's start, end and time, when the session closes."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import LongType

    window = windowing.window
    assert isinstance(window, SessionWindow)
    windowed = with_spans(with_time_read(stream, windowing, context), windowing, clock)
    keys = window.partition_key_indices or ()
    width = len(stream.type.fields)
    row = F.struct(*windowed.columns).alias(ROW)
    frame = timed_input(windowed, keys, [row, windowed.frame[START], windowed.frame[END]])
    columns = schema_of(stream.type.field_types).add(START, LongType()).add(END, LongType())
    span = window_span(context, frame, clock, True)
    by_clock = windowing.is_proctime
    result = run_timed(context, frame, max(1, len(keys)), "time.WindowRows", by_clock, columns=columns, span=span)
    values = [*(result[column_name(i)] for i in range(width)), *bounds(windowing, clock, result[START], result[END])]
    named = [c.alias(column_name(i)) for i, c in enumerate(values)]
    hidden = [name for name in (SEQUENCE, TICK) if name in result.columns]
    return emitted(stream, result.select(*named, *hidden), output_type, event_time=not by_clock)


def bounds(windowing: WindowingStrategy, clock: Clock, start: Column, end: Column) -> list[Column]:
    """What a windowing table function adds to a row: the window's start, end and time."""
    time = "Proctime" if windowing.is_proctime else "Rowtime"
    return [clock.property(kind, start, end) for kind in ("WindowStart", "WindowEnd", time)]


def rank_windows(
    context: TranslationContext,
    stream: Stream,
    keys: Sequence[int],
    order: Sequence[SortField],
    ranks: tuple[int, int],
    numbered: bool,
    latest_first: bool,
    windowing: WindowingStrategy,
    clock: Clock,
    output_type: LogicalType,
) -> Stream:
    """The first rows of each key and window in some order, when the window closes.

    ``numbered``: the row number is emitted.  ``latest_first``: of equal rows the latest comes first.
    """
    from pyspark.sql import functions as F

    windowed = with_windows(stream, windowing, clock)
    row = F.struct(*windowed.columns).alias(ROW)
    frame = timed_input(windowed, keys, [row, windowed.frame[START], windowed.frame[END]])
    frame, width = by_window(context, frame, max(1, len(keys)))
    ranked = run_timed(
        context,
        frame,
        width,
        "time.WindowRank",
        columns=schema_of(output_type.field_types),
        span=window_span(context, frame, clock, False),
        rowOrder=row_order(context, schema_of(stream.type.field_types), order),
        first=ranks[0],
        last=ranks[1],
        numbered=numbered,
        latestFirst=latest_first,
    )
    return emitted(stream, ranked, output_type)

"""Aggregations with Python functions: a kernel keeps accumulators or gathers rows, Python aggregates."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ....plan.nodes import PythonGroupAggregate, PythonGroupWindowAggregate, PythonOverAggregate
from ....plan.record import replace
from ....plan.specs import AggregateCall, TimeAttributeWindowing
from ....plan.types import row
from ....plan.user_functions import function_of_aggregate
from ....udf.aggregates import AggregateCode, Builtin
from ....udf.gathered import GatheredCalls
from ....udf.groups import Answer, Grouping, GroupWork
from ...aggregate_functions import function_name
from ...jvm.spark import F, T, fields
from ...jvm.types import field_name, spark_type
from ...prepare.choose.python_aggregates import (
    KEY_GROUPS,
    ROWS,
    ROWS_AT_ONCE,
    Gathered,
    PythonCountWindows,
    PythonGroups,
    PythonOver,
    PythonSessions,
    PythonWindows,
)
from ...prepare.known.key_types import key_type
from ..context import TranslationContext
from ..kernels import CONSTANT_KEY, key_values, keyed, run_kernel, schema_of
from ..python.functions import arrow_column, by_watermark_of_bundles, function_code, surroundings
from ..registry import builder
from ..stream import KIND, ORDER, SEQUENCE, Stream, column_name
from ..time.event_time import with_event_time
from ..windows.assignment import local_time, time_of
from ..windows.counts import aggregate_count_windows
from ..windows.kernels import aggregate_sessions, aggregate_windows
from .over import frames, with_constants

if TYPE_CHECKING:
    from pyspark.sql import Column

KEY_GROUP = "__key_group"


@builder(PythonGroups, PythonGroupAggregate)
def python_groups(
    node: PythonGroupAggregate, step: PythonGroups, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """By a kernel, whose state of each group expires by itself, and a process of Python's."""
    (stream,) = inputs
    frame = keyed(stream, step.grouping, [stream.column(i).alias(f"a{i}") for i in step.columns])
    keys = [f"k{i}" for i in range(len(step.grouping))] or [CONSTANT_KEY]
    number = F.pmod(F.hash(*keys), F.lit(KEY_GROUPS)).alias(KEY_GROUP)
    types = step.output_type.field_types
    width = len(step.grouping)
    results = [step.calls[0].type] if step.emits_rows else types[width:]
    aggregated = run_kernel(
        context,
        step,
        frame.select(number, "*"),
        1,
        group=schema_of([key_type(t) for t in types[:width]]),
        values=schema_of(results, width),
        keys=len(keys),
        arguments=len(step.columns),
        python=str(context.spark.sparkContext.pythonExec),
        path=str(Path(__file__).parents[4]),
        grouping=_program(node, step, stream, context),
        batch=ROWS_AT_ONCE,
        ttl=step.ttl,
    )
    columns = [fields.field(aggregated, column_name(i)) for i in range(width + len(results))]
    columns[:width] = key_values(columns[:width], types[:width])
    if step.emits_rows and step.calls[0].type.fields:
        emitted = columns.pop()
        columns += [emitted.getField(field_name(i)) for i in range(len(types) - width)]
    named = [column.alias(column_name(i)) for i, column in enumerate(columns)]
    return Stream(fields.select(aggregated, [*named, KIND, ORDER, SEQUENCE]), step.output_type, changelog=True)


def _program(node: PythonGroupAggregate, step: PythonGroups, stream: Stream, context: TranslationContext) -> bytearray:
    """What the process of Python's has to know."""
    place = {index: at for at, index in enumerate(step.columns)}
    grouping = Grouping(
        calls=tuple(
            _code(call, retracts, place, context)
            for call, retracts in zip(step.calls, node.agg_call_need_retractions, strict=True)
        ),
        names=tuple(stream.type.field_names[i] for i in step.columns),
        types=tuple(stream.type.field_types[i] for i in step.columns),
        counts=step.counts,
        update_before=step.update_before,
        row_by_row=step.row_by_row,
        emits=step.calls[0].type if step.emits_rows else None,
        modules=_modules(step),
        zone=context.time_zone,
    )
    results = [(f.name, f.type) for f in step.output_type.fields[len(step.grouping) :]]
    if step.emits_rows:
        results = [(step.calls[0].name or "row", step.calls[0].type)]
    answer = Answer(tuple(name for name, _ in results), tuple(t for _, t in results))
    return bytearray(pickle.dumps((GroupWork(grouping, answer), surroundings(context))))


def _code(call: AggregateCall, retracts: bool, place: dict[int, int], context: TranslationContext) -> AggregateCode:
    function = function_of_aggregate(call)
    return AggregateCode(
        Builtin(function_name(call), retracts, call.type) if function is None else function_code(function, context),
        tuple(place[i] for i in call.arg_list),
        place[call.filter_arg] if call.filter_arg >= 0 else -1,
        call.is_distinct,
    )


def _modules(step: PythonGroups) -> tuple[str, ...]:
    """The modules of the functions, whose classes accumulators may be of."""
    functions = [f.declaration.function for f in map(function_of_aggregate, step.calls) if f is not None]
    names = {type(function).__module__ for function in functions}
    return tuple(sorted(names - {"builtins", "__main__"} - set(sys.stdlib_module_names)))


# ---------------------------------------------------------------- windows, and OVER

RESULTS = "__results"
"""What Python has made of gathered rows, until its columns are selected."""


@builder(PythonWindows, PythonGroupWindowAggregate)
def python_windows(
    node: PythonGroupWindowAggregate, step: PythonWindows, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """By a kernel that gathers the rows of windows, and Spark's Python workers."""
    windows = aggregate_windows(context, step, _rows_of_windows(step, inputs, context))
    return _aggregated(node, step.gathered, inputs[0], windows, len(node.grouping), context)


@builder(PythonSessions, PythonGroupWindowAggregate)
def python_sessions(
    node: PythonGroupWindowAggregate, step: PythonSessions, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """The same of sessions."""
    sessions = aggregate_sessions(context, step, _rows_of_windows(step, inputs, context))
    return _aggregated(node, step.gathered, inputs[0], sessions, len(node.grouping), context)


@builder(PythonCountWindows, PythonGroupWindowAggregate)
def python_count_windows(
    node: PythonGroupWindowAggregate, step: PythonCountWindows, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """The same of windows that count rows."""
    (stream,) = inputs
    windows = aggregate_count_windows(context, step, _with_rows(stream, step.gathered, []))
    return _aggregated(node, step.gathered, stream, windows, len(node.grouping), context)


@builder(PythonOver, PythonOverAggregate)
def python_over(
    node: PythonOverAggregate, step: PythonOver, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """By a kernel that gathers the rows of each row's frame, and Spark's Python workers."""
    (stream,) = inputs
    timed = with_constants(stream if step.by_clock else with_event_time(stream), node.over_spec, context)
    rows = frames(node, step, stream, _with_rows(timed, step.gathered, []), context)
    return _aggregated(node, step.gathered, timed, rows, len(stream.type.fields), context)


def _rows_of_windows(
    step: PythonWindows | PythonSessions, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """The rows, each as one column more, for functions."""
    (stream,) = inputs
    windowing, clock = step.aggregation.windowing, step.aggregation.clock
    assert isinstance(windowing, TimeAttributeWindowing)
    timed = stream if windowing.is_proctime else with_event_time(stream)
    if step.gathered.in_bundles:
        timed = by_watermark_of_bundles(timed, context)
    is_timed = step.gathered.pane_ms or step.gathered.gap_ms
    return _with_rows(timed, step.gathered, [local_time(clock, time_of(timed, windowing))] if is_timed else [])


def _with_rows(stream: Stream, gathered: Gathered, times: list[Column]) -> Stream:
    """The stream with the columns that functions read as one column more, and the ``times`` of rows in it."""
    columns = [*(stream.column(i) for i in gathered.columns), *times]
    struct = F.struct(*(c.alias(f"f{i}") for i, c in enumerate(columns)))
    named = [*((f.name, f.type) for f in stream.type.fields), (ROWS, gathered.type(stream.type))]
    return stream.select([*stream.columns, struct.cast(spark_type(gathered.type(stream.type)))], row(named))


def _aggregated(
    node: PythonGroupWindowAggregate | PythonOverAggregate,
    gathered: Gathered,
    source: Stream,
    stream: Stream,
    place: int,
    context: TranslationContext,
) -> Stream:
    """The stream with the results of the calls instead of its column of rows, which is at ``place``."""
    types = tuple(call.type for call in gathered.calls)
    work = GatheredCalls(
        calls=_codes(gathered, context),
        names=tuple(source.type.field_names[i] for i in gathered.columns),
        types=tuple(source.type.field_types[i] for i in gathered.columns),
        result_types=types,
        pane_ms=gathered.pane_ms,
        gap_ms=gathered.gap_ms,
        surroundings=surroundings(context),
    )
    struct = T.StructType([T.StructField(f"f{i}", spark_type(t)) for i, t in enumerate(types)])
    column = arrow_column(work, struct, [stream.frame[column_name(place)]]).alias(RESULTS)
    called = replace(stream, frame=stream.frame.select("*", column))
    results = [called.frame[RESULTS][f"f{i}"] for i in range(len(types))]
    others = [called.frame[column_name(i)] for i in range(len(node.output_type.fields) - len(types) + 1)]
    columns = [*others[:place], *results, *others[place + 1 :]]
    names = [column_name(i) for i in range(len(columns))]
    frame = called.frame.select(*(c.alias(n) for c, n in zip(columns, names, strict=True)), *stream.hidden)
    return replace(called, frame=frame, type=node.output_type)


def _codes(gathered: Gathered, context: TranslationContext) -> tuple[AggregateCode, ...]:
    place = {index: at for at, index in enumerate(gathered.columns)}
    return tuple(_code(call, False, place, context) for call in gathered.calls)

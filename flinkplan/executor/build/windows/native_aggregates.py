"""Aggregations that Spark computes by its own operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....plan.record import replace
from ....plan.specs import AggregateCall
from ....plan.types import INTEGERS, LogicalType
from ...aggregate_functions import function_name
from ...jvm.spark import F
from ...jvm.types import cast_type, spark_type
from ...prepare.windows import Clock, WindowAggregation
from ..kernels import key_columns, key_values
from ..stream import END, LATENESS, SEQUENCE, START, TIME, Stream
from ..time.event_time import drop_late, fires_at
from .assignment import is_last_window, timer, with_windows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from ..context import TranslationContext


_DEVIATION = 0.01
"""The relative standard deviation of APPROX_COUNT_DISTINCT.  Source: ``ApproximateCountDistinct``."""


def native_aggregate(call: AggregateCall, stream: Stream) -> Column:
    """The Spark aggregate of ``call`` over the columns of ``stream``."""

    arguments = [stream.column(i) for i in call.arg_list]
    if call.filter_arg >= 0:
        chosen = stream.column(call.filter_arg)
        arguments = [F.when(chosen, a) for a in arguments or [F.lit(1)]]
    result = _aggregate(function_name(call), arguments, call.type, call.is_distinct)
    return result.cast(cast_type(call.type))


def last_change(call: AggregateCall, stream: Stream) -> Column:
    """The number of the row that was the last one to change what ``call`` comes to."""

    number = stream.frame[SEQUENCE]
    counts = _none_null([stream.column(i) for i in call.arg_list])
    if call.filter_arg >= 0:
        counts = counts & stream.column(call.filter_arg)
    name = function_name(call)
    if name == "COUNT":
        return F.max(F.when(counts, number))
    value = stream.column(call.arg_list[0])
    if name == "MIN":
        return F.min(F.when(counts, F.struct(value, number)))[SEQUENCE]
    return -F.max(F.when(counts, F.struct(value, (-number).alias(SEQUENCE))))[SEQUENCE]


def group_windows(
    stream: Stream, aggregation: WindowAggregation, context: TranslationContext
) -> tuple[list[Column], DataFrame]:
    """The key and the calls' results for each window, and the rows that they are of; late rows are out before.

    These have the window's bounds, and the time on which Spark's watermark is: that at which the window fires.  A
    stream is grouped by it, too, which says when a group is done.
    """

    grouping, windowing, clock = aggregation.grouping, aggregation.windowing, aggregation.clock
    windowed = with_windows(stream, windowing, clock)
    if LATENESS in windowed.hidden:
        fires = timer(clock, windowed.frame[END] - 1)
        last = is_last_window(windowed, windowing, clock)
        windowed = drop_late(windowed, fires, last, context)
    if not context.is_batch:
        windowed = replace(windowed, frame=_with_firing(windowed.frame, clock))
    keys = key_columns(windowed, grouping) if grouping else []
    types = [windowed.type.field_types[k] for k in grouping]
    results = [native_aggregate(call, windowed).alias(f"a{i}") for i, call in enumerate(aggregation.calls)]
    window = (START, END) if context.is_batch else (START, END, TIME)
    frame = windowed.frame.groupBy(*keys, *window).agg(*results or [F.count(F.lit(1)).alias("rows")])
    if context.is_batch:
        frame = _with_firing(frame, clock)
    values = key_values([frame[f"k{i}"] for i in range(len(keys))], types)
    return [*values, *(frame[f"a{i}"] for i in range(len(results)))], frame


def _with_firing(frame: DataFrame, clock: Clock) -> DataFrame:
    return frame.select("*", fires_at(timer(clock, frame[END] - 1)))


def _aggregate(name: str, arguments: list[Column], result: LogicalType, distinct: bool) -> Column:

    match name:
        case "COUNT" if distinct:
            return F.count_distinct(*arguments)
        case "COUNT":
            return F.count(arguments[0] if len(arguments) == 1 else F.when(_none_null(arguments), 1))
        case "MIN":
            return F.min(arguments[0])
        case "MAX":
            return F.max(arguments[0])
        case "APPROX_COUNT_DISTINCT":
            return F.approx_count_distinct(arguments[0], _DEVIATION)
    total = (F.sum_distinct if distinct else F.sum)(arguments[0])
    if name == "AVG":
        count = (F.count_distinct if distinct else F.count)(arguments[0])
        return _average(total, F.nullif(count, F.lit(0)), result)
    return F.coalesce(total, F.lit(0).cast(cast_type(result))) if name == "$SUM0" else total


def _average(total: Column, count: Column, result: LogicalType) -> Column:

    from ...expressions.jvm import invoke

    if result.root in INTEGERS:
        return F.call_function("div", total, count)
    if result.root != "DECIMAL":
        return total / count
    digits = F.lit(result.precision), F.lit(result.scale)
    return invoke("Numbers.divideDecimals", spark_type(result), total, count.cast("decimal(19,0)"), *digits)


def _none_null(columns: list[Column]) -> Column:

    condition = F.lit(True)
    for column in columns:
        condition = condition & column.isNotNull()
    return condition

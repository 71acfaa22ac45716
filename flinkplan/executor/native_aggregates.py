"""Window aggregations that Spark's own stateful grouping does exactly as Flink, and faster than a kernel.

Its state has an encoding of its own (kernels' is Avro, so that their schemas can change), and a query has one
encoding.  So either everything in a query with state is native, or nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..plan.document import Plan
from ..plan.nodes import (
    ExecNode,
    GlobalWindowAggregate,
    LocalWindowAggregate,
    Sink,
    WindowAggregate,
    WindowTableFunction,
)
from ..plan.record import replace
from ..plan.specs import AggregateCall, SessionWindow, WindowingStrategy
from ..plan.types import APPROXIMATE, INTEGERS, LogicalType
from .aggregate_functions import function_name
from .event_time import drop_late, fires_at
from .jvm.types import cast_type, spark_type
from .kernels import key_columns, key_values
from .stream import END, LATENESS, SEQUENCE, START, TIME, Stream
from .windows import Clock, is_last_window, with_windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame

    from .context import TranslationContext

_NATIVE = ("COUNT", "SUM", "$SUM0", "MIN", "MAX", "AVG")
_COMPARED = (*INTEGERS, "DECIMAL", "DATE", "TIME", "VARCHAR", "CHAR", "BOOLEAN")
"""The types whose MIN and MAX are the same; NaN is not."""
_TRACED = ("COUNT", "MIN", "MAX")
_EXACT_DIGITS = 28
"""The total of decimals with so many digits has 38 in Spark, too, which no number of rows fills."""


def is_native_query(plan: Plan) -> bool:
    """Whether all the state of a query can be Spark's own."""
    return obstacle(plan) is None


def obstacle(plan: Plan) -> str | None:
    """Why the state of a query cannot all be Spark's own; ``None``: it can."""
    found = ((node, obstacle_of(plan, node)) for node in plan.nodes)
    return next((f"node {node.id} {why}" for node, why in found if why), None)


def obstacle_of(plan: Plan, node: ExecNode) -> str | None:
    """Why Spark cannot run a node without a kernel; ``None``: it can.  Of two phases the local one tells."""
    match node:
        case Sink(require_upsert_materialize=True):
            return "makes upserts"
        case WindowTableFunction(windowing=windowing) if isinstance(windowing.window, SessionWindow):
            return "has sessions, which merge"
        case GlobalWindowAggregate():
            return None  # its local phase is looked at
        case LocalWindowAggregate() | WindowAggregate():
            (source,) = plan.inputs(node)
            if node.windowing.is_proctime:
                return "goes by the clock"
            if node.need_retraction:
                return "takes rows back"
            if isinstance(node.windowing.window, SessionWindow):
                return "has sessions, which merge"
            foreign = (call for call in node.agg_calls if not is_native_call(call, source.output_type))
            call = next(foreign, None)
            return None if call is None else f"computes {_written(call)}, which Spark has not or has otherwise"
    return "keeps state that only a kernel can" if node.is_stateful else None


def _written(call: AggregateCall) -> str:
    return f"{function_name(call)}(DISTINCT)" if call.distinct else function_name(call)


def is_native_call(call: AggregateCall, row: LogicalType) -> bool:
    """Whether :func:`native_aggregate` can compute ``call`` over rows of the type ``row``."""
    name = function_name(call)
    if call.distinct or name not in _NATIVE:
        return False
    types = [row.field_types[i] for i in call.arg_list]
    match name:
        case "COUNT":
            return True
        case "MIN" | "MAX":
            return types[0].root in _COMPARED
        case "AVG":
            return types[0].root in INTEGERS
    return _sums_alike(types[0])


def is_native_in_batch(calls: Sequence[AggregateCall], row: LogicalType) -> bool:
    """Whether :func:`native_aggregate` can compute all ``calls`` of a group over all its rows of the type ``row``.

    Of values that count once there is one kind at most: for several ones Spark would multiply the rows.
    """
    distinct = {(tuple(call.arg_list), call.filter_arg) for call in calls if call.distinct}
    return len(distinct) <= 1 and all(_is_native_in_batch(call, row) for call in calls)


def _is_native_in_batch(call: AggregateCall, row: LogicalType) -> bool:
    types = [row.field_types[i] for i in call.arg_list]
    if call.distinct and any(t.root not in _COMPARED for t in types):
        return False
    if function_name(call) == "AVG" and types[0].root == "DECIMAL":
        return _sums_alike(types[0])
    return is_native_call(replace(call, distinct=False), row)


def is_orderless(call: AggregateCall, row: LogicalType) -> bool:
    """Whether a call over rows of the type ``row`` comes to the same in whatever order they come."""
    name = function_name(call)
    if name not in _NATIVE:
        return False
    return name in ("COUNT", "MIN", "MAX") or _sums_alike(row.field_types[call.arg_list[0]])


def _sums_alike(t: LogicalType) -> bool:
    """Flink sums FLOATs as such, DOUBLEs part by part, and begins a decimal total anew that has overflowed."""
    return t.root not in APPROXIMATE and not (t.root == "DECIMAL" and (t.precision or 0) > _EXACT_DIGITS)


def native_aggregate(call: AggregateCall, stream: Stream) -> Column:
    """The Spark aggregate of ``call`` over the columns of ``stream``."""
    from pyspark.sql import functions as F

    arguments = [stream.column(i) for i in call.arg_list]
    if call.filter_arg >= 0:
        chosen = stream.column(call.filter_arg)
        arguments = [F.when(chosen, a) for a in arguments or [F.lit(1)]]
    result = _aggregate(function_name(call), arguments, call.type, call.distinct)
    return result.cast(cast_type(call.type))


def is_traced(call: AggregateCall) -> bool:
    """Whether :func:`last_change` can tell when the result of a native ``call`` has changed last."""
    return function_name(call) in _TRACED and not call.distinct


def last_change(call: AggregateCall, stream: Stream) -> Column:
    """The number of the row that was the last one to change what ``call`` comes to."""
    from pyspark.sql import functions as F

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
    stream: Stream,
    grouping: Sequence[int],
    calls: Sequence[AggregateCall],
    windowing: WindowingStrategy,
    clock: Clock,
    context: TranslationContext,
) -> tuple[list[Column], DataFrame]:
    """The key and the calls' results for each window, and the rows that they are of; late rows are out before.

    These have the window's bounds, and the time on which Spark's watermark is: that at which the window fires.  A
    stream is grouped by it, too, which says when a group is done.
    """
    from pyspark.sql import functions as F

    windowed = with_windows(stream, windowing, clock)
    if LATENESS in windowed.hidden:
        fires = clock.timer(windowed.frame[END] - 1)
        last = is_last_window(windowed, windowing, clock)
        windowed = drop_late(windowed, fires, last, context)
    if not context.is_batch:
        windowed = replace(windowed, frame=_with_firing(windowed.frame, clock))
    keys = key_columns(windowed, grouping) if grouping else []
    types = [windowed.type.field_types[k] for k in grouping]
    results = [native_aggregate(call, windowed).alias(f"a{i}") for i, call in enumerate(calls)]
    window = (START, END) if context.is_batch else (START, END, TIME)
    frame = windowed.frame.groupBy(*keys, *window).agg(*results or [F.count(F.lit(1)).alias("rows")])
    if context.is_batch:
        frame = _with_firing(frame, clock)
    values = key_values([frame[f"k{i}"] for i in range(len(keys))], types)
    return [*values, *(frame[f"a{i}"] for i in range(len(results)))], frame


def _with_firing(frame: DataFrame, clock: Clock) -> DataFrame:
    return frame.select("*", fires_at(clock.timer(frame[END] - 1)))


def _aggregate(name: str, arguments: list[Column], result: LogicalType, distinct: bool) -> Column:
    from pyspark.sql import functions as F

    match name:
        case "COUNT" if distinct:
            return F.count_distinct(*arguments)
        case "COUNT":
            return F.count(arguments[0] if len(arguments) == 1 else F.when(_none_null(arguments), 1))
        case "MIN":
            return F.min(arguments[0])
        case "MAX":
            return F.max(arguments[0])
    total = (F.sum_distinct if distinct else F.sum)(arguments[0])
    if name == "AVG":
        count = (F.count_distinct if distinct else F.count)(arguments[0])
        return _average(total, F.nullif(count, F.lit(0)), result)
    return F.coalesce(total, F.lit(0).cast(cast_type(result))) if name == "$SUM0" else total


def _average(total: Column, count: Column, result: LogicalType) -> Column:
    from pyspark.sql import functions as F

    from .expressions.jvm import invoke

    if result.root in INTEGERS:
        return F.call_function("div", total, count)
    if result.root != "DECIMAL":
        return total / count
    digits = F.lit(result.precision), F.lit(result.scale)
    return invoke("Numbers.divideDecimals", spark_type(result), total, count.cast("decimal(19,0)"), *digits)


def _none_null(columns: list[Column]) -> Column:
    from pyspark.sql import functions as F

    condition = F.lit(True)
    for column in columns:
        condition = condition & column.isNotNull()
    return condition

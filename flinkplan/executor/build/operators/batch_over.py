"""OVER windows of batch plans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....plan.nodes import BatchOverAggregate, OverAggregate
from ....plan.record import replace
from ....plan.specs import AggregateCall, OverSpec, SortField
from ....plan.types import TIMESTAMPS, LogicalType
from ...aggregate_functions import function_name
from ...expressions.timestamps import to_micros
from ...jvm.spark import F, sql
from ...jvm.types import cast_type, spark_type
from ...prepare.choose.batch_over import (
    RANKING,
    SHIFTED,
    Frame,
    FramedCall,
    NativeOver,
    constant_at,
    range_scale,
    shift_of,
)
from ..accumulators import java_calls
from ..context import TranslationContext
from ..final_rows import as_changelog, rows_that_stay
from ..kernels import java_type, key_part, schema_of
from ..registry import builder
from ..stream import SEQUENCE, Stream, column_name
from .batch import directed, sort_columns
from .over import with_constants

if TYPE_CHECKING:
    from pyspark.sql import Column, WindowSpec


@builder(NativeOver, BatchOverAggregate, OverAggregate)
def over(
    node: BatchOverAggregate | OverAggregate, step: NativeOver, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """Each row with its aggregates; equal rows of the order stand as they were read."""
    stream = rows_that_stay(inputs[0], nets=step.nets)
    widened = with_constants(_sorted(stream, step), node.over_spec, context)
    frame = widened.frame
    width = len(stream.type.fields)
    results = [
        _over(framed, step, node.over_spec, widened, context).alias(column_name(width + i))
        for i, framed in enumerate(step.calls)
    ]
    columns = [column_name(i) for i in range(width)]
    rows = replace(stream, frame=frame.select(*columns, *results, *stream.hidden), type=node.output_type)
    return rows if isinstance(node, BatchOverAggregate) else as_changelog(rows)


def _sorted(stream: Stream, step: NativeOver) -> Stream:
    """The rows of each partition together and in order."""
    keys = [stream.column(k) for k in step.partition]
    parts = _partition(stream, step)
    together = stream.frame.repartition(*parts) if parts else stream.frame.repartition(1)
    order = sort_columns(stream, step.order)
    return replace(stream, frame=together.sortWithinPartitions(*keys, *order, SEQUENCE))


def _partition(stream: Stream, step: NativeOver) -> list[Column]:
    return [key_part(stream.column(k), stream.type.field_types[k]) for k in step.partition]


def _over(framed: FramedCall, step: NativeOver, spec: OverSpec, stream: Stream, context: TranslationContext) -> Column:
    """The result of a call."""
    call, name = framed.call, function_name(framed.call)
    partition = sql.Window.partitionBy(*_partition(stream, step))
    order = sort_columns(stream, framed.order)
    by_row = partition.orderBy(*order, SEQUENCE)
    if name in RANKING:
        result = _rank(name, call, spec, by_row, partition.orderBy(*order) if order else by_row)
    elif name in SHIFTED:
        result = _shifted(call, spec, by_row, stream)
    else:
        assert framed.frame is not None
        result = _framed(framed, framed.frame, partition, order, by_row, stream, context)
    return result.cast(cast_type(call.type))


def _rank(name: str, call: AggregateCall, spec: OverSpec, by_row: WindowSpec, by_value: WindowSpec) -> Column:
    """A function of the place of a row in its partition."""
    match name:
        case "ROW_NUMBER":
            return F.row_number().over(by_row)
        case "RANK":
            return F.rank().over(by_value)
        case "DENSE_RANK":
            return F.dense_rank().over(by_value)
        case "PERCENT_RANK":
            return F.percent_rank().over(by_value)
        case "CUME_DIST":
            return F.cume_dist().over(by_value)
    buckets = constant_at(spec, call.arg_list[0])
    assert buckets is not None, "Flink takes constants only"
    return F.ntile(int(str(buckets.value))).over(by_row)


def _shifted(call: AggregateCall, spec: OverSpec, by_row: WindowSpec, stream: Stream) -> Column:
    """The value of another row, or the default of this one where there is no such row."""
    value, *_ = call.arg_list
    other = F.lead(F.struct(stream.column(value).alias("value")), shift_of(call, spec)).over(by_row)
    default = stream.column(call.arg_list[2]) if len(call.arg_list) > 2 else F.lit(None)
    return F.when(other.isNotNull(), other.getField("value")).otherwise(default.cast(cast_type(call.type)))


def _framed(
    framed: FramedCall,
    frame: Frame,
    partition: WindowSpec,
    order: Sequence[Column],
    by_row: WindowSpec,
    stream: Stream,
    context: TranslationContext,
) -> Column:
    """An aggregate over the frame of each row."""
    lower = sql.Window.unboundedPreceding if frame.lower is None else frame.lower
    upper = sql.Window.unboundedFollowing if frame.upper is None else frame.upper
    if frame.by_rows:
        window = by_row.rowsBetween(lower, upper)
    elif frame.is_by_value:
        (field,) = framed.order
        window = partition.orderBy(_distanced(stream, field)).rangeBetween(lower, upper)
    elif not order:  # all rows of the partition are equal
        window = by_row.rowsBetween(sql.Window.unboundedPreceding, sql.Window.unboundedFollowing)
    else:
        window = partition.orderBy(*order).rangeBetween(lower, upper)
    if not framed.is_native:
        return _accumulated(framed.call, stream, context).over(window)
    call = framed.call
    arguments = [stream.column(i) for i in call.arg_list]
    name = function_name(call)
    if name == "COUNT":
        return F.count(_all_known(arguments)).over(window)
    function = {"SUM": F.sum, "$SUM0": F.sum, "MIN": F.min, "MAX": F.max}[name]
    result = function(arguments[0]).over(window)
    return F.coalesce(result, F.lit(0).cast(cast_type(call.type))) if name == "$SUM0" else result


def _all_known(columns: Sequence[Column]) -> Column:
    """A value where no column is NULL."""
    known = F.lit(True)
    for column in columns:
        known = known & column.isNotNull()
    return F.when(known, 1)


def _distanced(stream: Stream, field: SortField) -> Column:
    """The column of an order as a number whose differences are distances in units of :func:`range_scale`."""
    column, t = stream.column(field.index), stream.type.field_types[field.index]
    return directed(_as_number(column, t), field)


def _as_number(column: Column, t: LogicalType) -> Column:
    if t.root in TIMESTAMPS:
        return F.unix_micros(to_micros(column, t))
    if t.root == "DATE":
        return F.unix_date(column)
    if t.root == "DECIMAL":
        return (column * F.lit(int(range_scale(t)))).cast("bigint")
    return column


def _accumulated(call: AggregateCall, stream: Stream, context: TranslationContext) -> Column:
    """A call by its accumulator."""
    read = sorted({i for i in (*call.arg_list, call.filter_arg) if i >= 0})
    columns = [stream.column(i) for i in read]
    schema = context.java_schema(schema_of([stream.type.field_types[i] for i in read]))
    (java_call,) = java_calls(context, schema, stream, [call], {index: at for at, index in enumerate(read)})
    function = context.runtime.aggregate.FrameFunction
    type_ = java_type(context, spark_type(call.type))
    return sql.Column(function.of(java_call, type_, [column._jc for column in columns]))

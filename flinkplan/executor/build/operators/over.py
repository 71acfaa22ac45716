"""OVER windows: each row, followed by aggregates over it and the rows before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....plan.nodes import OverAggregate, PythonOverAggregate
from ....plan.record import replace
from ....plan.specs import OverGroup, OverSpec
from ....plan.types import row
from ...jvm.spark import F
from ...prepare.choose.over import UNBOUNDED, KernelOver, KernelOverByTime
from ..context import TranslationContext
from ..kernels import keyed, run_kernel, schema_of
from ..registry import builder
from ..stream import HIDDEN, KIND, ORDER, PASSED, ROW, SEQUENCE, TICK, TIME, Stream, column_name
from ..time.event_time import with_event_time
from ..windows.kernels import aggregation, row_order, run_timed, timed_input

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType


@builder(KernelOverByTime, OverAggregate)
def over_by_time(
    node: OverAggregate, step: KernelOverByTime, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """In the order of a time attribute: each row comes out once."""
    (stream,) = inputs
    timed = with_constants(stream if step.by_clock else with_event_time(stream), node.over_spec, context)
    return replace(frames(node, step, stream, timed, context), type=node.output_type)


def frames(
    node: OverAggregate | PythonOverAggregate,
    step: KernelOverByTime,
    stream: Stream,
    timed: Stream,
    context: TranslationContext,
) -> Stream:
    """The rows of ``stream`` with the results over their frames; ``timed`` has further columns that calls are over."""
    spec, group = node.over_spec, step.group
    schema = schema_of(timed.type.field_types)
    time = context.arrival() if step.by_clock else F.unix_millis(timed.column(step.order))
    frame = timed_input(timed, spec.partition.fields, [time.alias(TIME), F.struct(*timed.columns).alias(ROW)])
    result = run_timed(
        context,
        step,
        frame,
        max(1, len(spec.partition.fields)),
        by_clock=step.by_clock,
        row=schema,
        results=_results(group, schema),
        aggregation=_aggregation(context, group, timed, schema, retracts=step.preceding != UNBOUNDED),
        byRows=step.by_rows,
        preceding=step.preceding,
        keepsLate=step.keeps_late,
    )
    passed = (PASSED,) if step.takes_late else ()
    hidden = (SEQUENCE, *passed, *(name for name in (TICK,) if name in result.columns))
    frame = result.select(*_output(result, stream, schema), *hidden)
    return replace(timed, frame=frame, event_time=not step.by_clock)


@builder(KernelOver, OverAggregate)
def over_by_any_order(
    node: OverAggregate, step: KernelOver, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """In an order of any columns: rows come out at once, and again when others come before them."""
    (stream,) = inputs
    spec, group = node.over_spec, step.group
    widened = with_constants(stream, spec, context)
    schema = schema_of(widened.type.field_types)
    frame = keyed(widened, spec.partition.fields, [F.struct(*widened.columns).alias(ROW)])
    result = run_kernel(
        context,
        step,
        frame,
        max(1, len(spec.partition.fields)),
        row=schema,
        results=_results(group, schema),
        aggregation=_aggregation(context, group, widened, schema, retracts=False),
        rowOrder=row_order(context, schema, group.order_by.fields),
        byRows=group.is_rows,
    )
    columns = _output(result, stream, schema)
    return Stream(result.select(*columns, KIND, ORDER, SEQUENCE), node.output_type, changelog=True, pulse=stream.pulse)


def _aggregation(
    context: TranslationContext, group: OverGroup, stream: Stream, schema: StructType, retracts: bool
) -> Any:
    """The calls over the columns of ``schema``; ``retracts``: rows leave the frame again."""
    position = {i: i for i in range(len(schema))}
    return aggregation(
        context, replace(stream, changelog=retracts), group.agg_calls, position, context.java_schema(schema)
    )


def _results(group: OverGroup, row: StructType) -> StructType:
    return schema_of([call.type for call in group.agg_calls], len(row))


def _output(result: DataFrame, stream: Stream, row: StructType) -> list[Column]:
    """The columns of the node: those of its input and the results, without the constants between."""
    visible = [name for name in result.columns if name not in HIDDEN]
    kept = [*visible[: len(stream.type.fields)], *visible[len(row) :]]
    return [result[name].alias(column_name(position)) for position, name in enumerate(kept)]


def with_constants(stream: Stream, spec: OverSpec, context: TranslationContext) -> Stream:
    """The stream with the constants of the calls as further columns."""
    if not spec.constants:
        return stream
    fields = [(f.name, f.type) for f in stream.type.fields]
    constants = [(f"constant{i}", c.type) for i, c in enumerate(spec.constants)]
    columns = [*stream.columns, *(context.expression(c, stream) for c in spec.constants)]
    return stream.select(columns, row([*fields, *constants]))

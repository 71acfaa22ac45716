"""OVER windows: each row, followed by aggregates over it and the rows before it.

Source of the rules: Flink's ``StreamExecOverAggregate`` and the functions that it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...plan.document import Plan
from ...plan.errors import UnsupportedError
from ...plan.nodes import OverAggregate
from ...plan.record import replace
from ...plan.rex import InputRef, Literal
from ...plan.specs import OverGroup, OverSpec
from ...plan.types import row
from ..aggregate_functions import check_calls
from ..context import TranslationContext
from ..event_time import with_event_time
from ..execution import TIMER, Execution, QueryPlan, accumulators, kernel, until_watermark, with_ttl
from ..jvm.types import is_year_month
from ..kernels import keyed, run_kernel, schema_of
from ..registry import by_watermark, translator
from ..stream import HIDDEN, KIND, ORDER, PASSED, ROW, SEQUENCE, TICK, TIME, Stream, column_name
from ..window_kernels import aggregation, row_order, run_timed, timed_input

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

UNBOUNDED = -1


def _runs(node: OverAggregate, query: QueryPlan) -> Execution:
    group = _only_group(node.over_spec)
    order = query.input(node).output_type.field_types[group.order_by.fields[0].index]
    if not order.is_time_attribute:
        rows = with_ttl("ListState", "rows", "all rows", 0)
        return kernel(node, query, "aggregate.OrderedAggregate", "a row may come before others and update them", rows)
    rows = until_watermark("MapState", "rows", "rows by their times")
    frame = until_watermark("ValueState", "frame", accumulators(group.agg_calls))
    why = "rows come out, in order, when the watermark reaches them"
    return kernel(node, query, "time.OverAggregate", why, rows, frame, TIMER)


def _check(node: OverAggregate, plan: Plan, options: Mapping[str, str]) -> None:
    group = _only_group(node.over_spec)
    check_calls(group.agg_calls)
    preceding = _preceding(node.over_spec, group)
    (source,) = plan.inputs(node)
    order = source.output_type.field_types[group.order_by.fields[0].index]
    if not order.is_time_attribute:
        if preceding != UNBOUNDED:
            raise UnsupportedError("a bounded frame of an OVER window that is not ordered by time")
    elif len(group.order_by.fields) > 1 or not group.order_by.fields[0].is_ascending:
        raise UnsupportedError("OVER ordered by time downwards or by more", hint="order by the time attribute alone")


def _real_time(node: OverAggregate, query: QueryPlan) -> str | None:
    order = query.input(node).output_type.field_types[_only_group(node.over_spec).order_by.fields[0].index]
    return by_watermark(node, query) if order.is_time_attribute else None


@translator(OverAggregate, runs=_runs, check=_check, real_time=_real_time)
def over_aggregate(node: OverAggregate, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Aggregate up to the current row."""
    (stream,) = inputs
    group = _only_group(node.over_spec)
    order = stream.type.field_types[group.order_by.fields[0].index]
    aggregate = _by_time if order.is_time_attribute else _by_any_order
    return aggregate(node, group, stream, context)


def _by_time(node: OverAggregate, group: OverGroup, stream: Stream, context: TranslationContext) -> Stream:
    """In the order of a time attribute: each row comes out once."""
    from pyspark.sql import functions as F

    spec = node.over_spec
    order = group.order_by.fields[0].index
    proctime = stream.type.field_types[order].is_proctime
    timed = _with_constants(stream if proctime else with_event_time(stream), spec, context)
    schema = schema_of(timed.type.field_types)
    time = context.arrival() if proctime else F.unix_millis(timed.column(order))
    frame = timed_input(timed, spec.partition.fields, [time.alias(TIME), F.struct(*timed.columns).alias(ROW)])
    preceding = _preceding(spec, group)
    result = run_timed(
        context,
        frame,
        max(1, len(spec.partition.fields)),
        "time.OverAggregate",
        by_clock=proctime,
        row=schema,
        results=_results(group, schema),
        aggregation=_aggregation(context, group, timed, schema, retracts=preceding != UNBOUNDED),
        byRows=group.is_rows or (proctime and preceding == UNBOUNDED),
        preceding=preceding,
    )
    takes_late = preceding != UNBOUNDED and not proctime
    passed = (PASSED,) if takes_late else ()
    hidden = (SEQUENCE, *passed, *(name for name in (TICK,) if name in result.columns))
    frame = result.select(*_output(result, stream, schema), *hidden)
    return replace(timed, frame=frame, type=node.output_type, event_time=not proctime, sources=frozenset())


def _by_any_order(node: OverAggregate, group: OverGroup, stream: Stream, context: TranslationContext) -> Stream:
    """In an order of any columns: rows come out at once, and again when others come before them."""
    from pyspark.sql import functions as F

    spec = node.over_spec
    widened = _with_constants(stream, spec, context)
    schema = schema_of(widened.type.field_types)
    frame = keyed(widened, spec.partition.fields, [F.struct(*widened.columns).alias(ROW)])
    result = run_kernel(
        context,
        frame,
        max(1, len(spec.partition.fields)),
        "aggregate.OrderedAggregate",
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


def _only_group(spec: OverSpec) -> OverGroup:
    if len(spec.groups) != 1:
        raise UnsupportedError("aggregates over different windows", hint="Flink wants one window a query, too")
    if not spec.groups[0].order_by.fields:
        raise UnsupportedError("OVER without an order", hint="add ORDER BY a time attribute, as Flink wants it")
    return spec.groups[0]


def _with_constants(stream: Stream, spec: OverSpec, context: TranslationContext) -> Stream:
    """The stream with the constants of the calls as further columns."""
    if not spec.constants:
        return stream
    fields = [(f.name, f.type) for f in stream.type.fields]
    constants = [(f"constant{i}", c.type) for i, c in enumerate(spec.constants)]
    columns = [*stream.columns, *(context.expression(c, stream) for c in spec.constants)]
    return stream.select(columns, row([*fields, *constants]))


def _preceding(spec: OverSpec, group: OverGroup) -> int:
    """How many rows or milliseconds before the current row the frame begins; :data:`UNBOUNDED`."""
    if group.upper_bound.kind != "CURRENT_ROW":
        raise UnsupportedError("frames that do not end with the current row", hint="Flink has none in streams")
    lower = group.lower_bound
    if lower.kind == "UNBOUNDED_PRECEDING":
        return UNBOUNDED
    if lower.kind == "CURRENT_ROW":
        raise UnsupportedError(
            "frames that begin with the current row, which Flink compiles, but no job with one starts",
            hint="take the row's own values, or write RANGE BETWEEN INTERVAL '0' SECOND PRECEDING AND CURRENT ROW",
        )
    bound = lower.offset
    if isinstance(bound, InputRef):
        bound = spec.constants[bound.index - spec.original_input_fields]
    if not lower.is_preceding or not isinstance(bound, Literal) or is_year_month(bound.type):
        raise UnsupportedError("this bound of a frame")
    return int(bound.value)

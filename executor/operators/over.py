"""OVER windows: each row, followed by aggregates over it and the rows before it.

Source of the rules: Flink's ``StreamExecOverAggregate`` and the functions that it runs.
"""

from __future__ import annotations

from dataclasses import replace

from ...plan.errors import UnsupportedError
from ...plan.nodes import OverAggregate
from ...plan.rex import InputRef, Literal
from ...plan.specs import AggregateCall, OverGroup, OverSpec
from ...plan.types import row
from ..aggregate_functions import function_name
from ..context import TranslationContext
from ..event_time import with_event_time
from ..kernels import schema_of
from ..registry import translator
from ..stream import SEQUENCE, Stream, column_name
from ..types import is_year_month
from ..window_kernels import ROW, aggregation, emitted, run_timed, timed_input

UNBOUNDED = -1
TIME = "__time"


@translator(OverAggregate)
def over_aggregate(node: OverAggregate, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Aggregate up to the current row, in the order of a time attribute."""
    from pyspark.sql import functions as F

    (stream,) = inputs
    spec = node.over_spec
    group = _only_group(spec)
    order = group.order_by.fields[0].index
    proctime = stream.type.field_types[order].is_proctime
    timed = _with_constants(stream if proctime else with_event_time(stream), spec, context)
    types = timed.type.field_types
    time = F.unix_millis(F.current_timestamp() if proctime else timed.column(order))
    frame = timed_input(timed, spec.partition.fields, [time.alias(TIME), F.struct(*timed.columns).alias(ROW)])
    results = [call.type for call in group.agg_calls]
    schema = context.java_schema(schema_of(types))
    preceding = _preceding(spec, group)
    kernel = context.runtime.time.OverAggregate(
        context.java_schema(frame.schema),
        schema,
        context.java_schema(schema_of(results, len(types))),
        aggregation(
            context,
            replace(timed, changelog=preceding != UNBOUNDED),
            [_ordered(call, order) for call in group.agg_calls],
            {i: i for i in range(len(types))},
            schema,
        ),
        group.is_rows or (proctime and preceding == UNBOUNDED),
        preceding,
    )
    if proctime:
        kernel.inProcessingTime()
    result = run_timed(context, frame, max(1, len(spec.partition.fields)), kernel)
    given = len(stream.type.fields)
    kept = [*range(given), *(len(types) + i for i in range(len(results)))]
    columns = [result[column_name(i)].alias(column_name(position)) for position, i in enumerate(kept)]
    emits = emitted(timed, result.select(*columns, SEQUENCE), node.output_type)
    return replace(emits, event_time=not proctime)


def _only_group(spec: OverSpec) -> OverGroup:
    if len(spec.groups) != 1:
        raise UnsupportedError("aggregates over different windows", hint="Flink wants one window a query, too")
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
        return 0
    bound = lower.offset
    if isinstance(bound, InputRef):
        bound = spec.constants[bound.index - spec.original_input_fields]
    if not lower.is_preceding or not isinstance(bound, Literal) or is_year_month(bound.type):
        raise UnsupportedError("this bound of a frame")
    return int(bound.value)


def _ordered(call: AggregateCall, order: int) -> AggregateCall:
    """The call; what ranks by the order has it as its argument."""
    return replace(call, arg_list=(order,)) if function_name(call) in ("RANK", "DENSE_RANK") else call

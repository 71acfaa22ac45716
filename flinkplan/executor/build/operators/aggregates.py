"""GROUP BY: one updating row a group."""

from __future__ import annotations

from ....plan.nodes import GlobalGroupAggregate, GroupAggregate, IncrementalGroupAggregate
from ...jvm.spark import F, fields
from ...prepare.choose.aggregates import KernelGroups, NativeGroups
from ...prepare.known.key_types import key_type
from ..accumulators import java_calls
from ..context import TranslationContext
from ..kernels import key_columns, key_values, keyed, run_kernel, schema_of
from ..many_groups import brought_together
from ..registry import builder
from ..stream import INSERT, KIND, ORDER, SEQUENCE, Stream, column_name
from ..windows.native_aggregates import last_change, native_aggregate


@builder(KernelGroups, GroupAggregate, GlobalGroupAggregate, IncrementalGroupAggregate)
def kernel_groups(
    node: GroupAggregate | GlobalGroupAggregate | IncrementalGroupAggregate,
    step: KernelGroups,
    inputs: tuple[Stream, ...],
    context: TranslationContext,
) -> Stream:
    """By a kernel, whose state of each group expires by itself."""
    (stream,) = inputs
    if step.inserts and stream.changelog:
        stream = stream.inserts
    grouping, calls = step.grouping, step.calls
    used = sorted({i for call in calls for i in (*call.arg_list, call.filter_arg) if i >= 0})
    frame = keyed(stream, grouping, [stream.column(i).alias(f"a{i}") for i in used])
    schema = context.java_schema(frame.schema)
    keys, count = max(1, len(grouping)), -1
    position = {index: keys + at for at, index in enumerate(used)}
    types = step.output_type.field_types
    package = context.runtime.aggregate
    functions = java_calls(context, schema, stream, calls, position)
    if step.folds_rows:
        frame = context.frame(package.PreAggregate.run(frame._jdf, keys, functions))
        functions, count = package.PreAggregate.merged(keys, functions), keys
    aggregated = run_kernel(
        context,
        step,
        frame,
        keys,
        group=schema_of([key_type(t) for t in types[: len(grouping)]]),
        values=schema_of([call.type for call in calls], len(grouping)),
        calls=functions,
        updateBefore=step.update_before,
        folds=step.folds,
        numbered=step.numbered,
        count=count,
        ttl=step.ttl,
    )
    columns = [fields.field(aggregated, column_name(i)) for i in range(len(types))]
    columns[: len(grouping)] = key_values(columns[: len(grouping)], types[: len(grouping)])
    named = [column.alias(column_name(i)) for i, column in enumerate(columns)]
    return Stream(fields.select(aggregated, [*named, KIND, ORDER, SEQUENCE]), step.output_type, changelog=True)


@builder(NativeGroups, GroupAggregate, GlobalGroupAggregate)
def native_groups(
    node: GroupAggregate | GlobalGroupAggregate,
    step: NativeGroups,
    inputs: tuple[Stream, ...],
    context: TranslationContext,
) -> Stream:
    """By Spark's own aggregation.

    Each group has the number of its last row, or of the last one that has changed it.
    """
    (stream,) = inputs
    if stream.changelog:
        stream = stream.inserts
    grouping, calls, traced = step.grouping, step.calls, step.traced
    if step.samples:
        stream = brought_together(stream, grouping, context)
    types = node.output_type.field_types[: len(grouping)]
    results = [native_aggregate(call, stream).alias(column_name(len(grouping) + i)) for i, call in enumerate(calls)]
    number = (F.min if traced else F.max)(stream.frame[SEQUENCE])
    if traced and calls:
        number = F.greatest(number, *(last_change(call, stream) for call in calls))
    grouped = stream.frame.groupBy(*key_columns(stream, grouping)).agg(*results, number.alias(SEQUENCE))
    keys = key_values([fields.field(grouped, f"k{i}") for i in range(len(grouping))], types)
    named = [key.alias(column_name(i)) for i, key in enumerate(keys)]
    values = [column_name(len(grouping) + i) for i in range(len(calls))]
    kind = F.lit(INSERT).cast("tinyint").alias(KIND)
    return Stream(fields.select(grouped, [*named, *values, kind, SEQUENCE]), node.output_type, changelog=True)

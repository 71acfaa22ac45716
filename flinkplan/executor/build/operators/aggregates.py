"""GROUP BY: one updating row a group."""

from __future__ import annotations

from ....plan.nodes import GlobalGroupAggregate, GroupAggregate, IncrementalGroupAggregate
from ....plan.record import replace
from ....plan.types import BOOLEAN, row
from ...jvm.spark import F, fields
from ...jvm.types import spark_type
from ...prepare.choose.aggregates import KernelGroups, NativeGroups
from ...prepare.known.key_types import key_type
from ..accumulators import java_calls
from ..context import TranslationContext
from ..final_rows import as_changelog, final_rows
from ..kernels import key_columns, key_values, keyed, run_kernel, schema_of
from ..many_groups import brought_together
from ..registry import builder
from ..stream import INSERT, KIND, ORDER, SEQUENCE, Stream, column_name
from ..time.event_time import one_row
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
    if not step.one_row:
        return _kernel_groups(node, step, stream, context)
    if not stream.changelog:
        rows, of_rows = _with_empty_row(stream, step, context)
        return _kernel_groups(node, of_rows, rows, context)
    return _with_one_row(node, step, stream, context)


def _with_one_row(
    node: GroupAggregate | GlobalGroupAggregate | IncrementalGroupAggregate,
    step: KernelGroups,
    stream: Stream,
    context: TranslationContext,
) -> Stream:
    """The last row of an aggregation without keys over changes; where none is left, that over no rows."""
    rows = final_rows(_kernel_groups(node, step, stream, context))
    none = replace(stream.inserts, frame=stream.inserts.frame.limit(0))
    none, over_none = _with_empty_row(none, replace(step, inserts=True), context)
    initial = _kernel_groups(node, over_none, none, context)
    names = fields.names(rows.frame)
    last = rows.frame.unionByName(initial.frame.select(*names)).orderBy(F.desc(SEQUENCE)).limit(1)
    return as_changelog(replace(rows, frame=last))


def _with_empty_row(stream: Stream, step: KernelGroups, context: TranslationContext) -> tuple[Stream, KernelGroups]:
    """Inserted rows and one that no call of the step takes, for whose sake there is a group."""
    types = stream.type.field_types
    filters = list(dict.fromkeys(call.filter_arg for call in step.calls))
    chosen = [F.lit(True) if i < 0 else stream.column(i) for i in filters]
    kind = row(
        [*((f.name, f.type) for f in stream.type.fields), *((f"filter{i}", BOOLEAN) for i in range(len(filters)))]
    )
    given = stream.select([*stream.columns, *chosen], kind)
    columns = [F.lit(None).cast(spark_type(t)).alias(column_name(i)) for i, t in enumerate(types)]
    columns += [F.lit(False).alias(column_name(len(types) + i)) for i in range(len(filters))]
    hidden = [
        F.lit(None).cast(given.frame.schema[name].dataType).alias(name) for name in given.hidden if name != SEQUENCE
    ]
    empty = one_row(context).select(*columns, *hidden, F.lit(-1).cast("bigint").alias(SEQUENCE))
    calls = tuple(replace(call, filter_arg=len(types) + filters.index(call.filter_arg)) for call in step.calls)
    return replace(given, frame=given.frame.unionByName(empty)), replace(step, calls=calls, folds_rows=False)


def _kernel_groups(
    node: GroupAggregate | GlobalGroupAggregate | IncrementalGroupAggregate,
    step: KernelGroups,
    stream: Stream,
    context: TranslationContext,
) -> Stream:
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
    if step.one_row:
        number = F.coalesce(number, F.lit(0).cast("bigint"))
    rows = stream.frame if step.one_row else stream.frame.groupBy(*key_columns(stream, grouping))
    grouped = rows.agg(*results, number.alias(SEQUENCE))
    keys = key_values([fields.field(grouped, f"k{i}") for i in range(len(grouping))], types)
    named = [key.alias(column_name(i)) for i, key in enumerate(keys)]
    values = [column_name(len(grouping) + i) for i in range(len(calls))]
    kind = F.lit(INSERT).cast("tinyint").alias(KIND)
    return Stream(fields.select(grouped, [*named, *values, kind, SEQUENCE]), node.output_type, changelog=True)

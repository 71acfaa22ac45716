"""GROUP BY, in one phase or several.

The phases of a mini-batch aggregation come to one here: the local phase is passed by, the global one aggregates
the local one's input; a kernel folds a batch's rows of a group anyway.  In a job over all rows Spark aggregates those
that stay by itself, where only what a group comes to is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...plan.document import Plan
from ...plan.nodes import ExecNode, GlobalGroupAggregate, GroupAggregate, IncrementalGroupAggregate, LocalGroupAggregate
from ...plan.record import replace
from ...plan.specs import AggregateCall
from ...plan.types import LogicalType, row
from ..aggregate_functions import check_calls, java_calls
from ..context import TranslationContext
from ..execution import Execution, QueryPlan, accumulators, kernel, passed_by, query_of, with_ttl
from ..jvm.spark import fields
from ..kernels import key_columns, key_type, key_values, keyed, run_kernel, schema_of
from ..many_groups import brought_together
from ..native_aggregates import is_native_in_batch, is_traced, last_change, native_aggregate
from ..registry import row_by_row, translator
from ..row_order import moves_by_each_row
from ..stream import INSERT, KIND, ORDER, SEQUENCE, Stream, column_name

MINI_BATCH_ENABLED = "table.exec.mini-batch.enabled"


_WHY = "each group's state expires by itself, and changes come out as rows"


def _runs(node: GroupAggregate | GlobalGroupAggregate | IncrementalGroupAggregate, query: QueryPlan) -> Execution:
    if _is_native(node, query):
        return Execution("native", "groupBy", "all rows are there, and none is taken back")
    state = with_ttl("ValueState", "accumulators", f"rows, {accumulators(_calls(node, query))}", node.ttl_ms())
    return kernel(node, query, "aggregate.GroupAggregate", _WHY, state)


def _is_native(node: ExecNode, query: QueryPlan) -> bool:
    """Whether Spark's own aggregation comes to the same: results are wanted once a group, and rows stay."""
    if not query.is_batch:
        return False
    match node:
        case GroupAggregate():
            below, folds = query.input(node), _folds(node, query)
        case GlobalGroupAggregate():
            local = query.input(query.input(node))
            if not isinstance(local, LocalGroupAggregate):
                return False
            below, folds = query.input(local), True
        case _:
            return False
    calls = _calls(node, query)
    return (
        folds
        and query.joins.is_settled(below)
        and is_native_in_batch(calls, below.output_type)
        and (not _is_numbered(node, query, calls) or all(map(is_traced, calls)))
    )


def _folds(node: GroupAggregate, query: QueryPlan) -> bool:
    """Whether the changes that a batch makes to a group come to one: in mini-batches always, as in Flink."""
    return node.option(MINI_BATCH_ENABLED, "false") == "true" or query.folds_at(node)


def _calls(
    node: GroupAggregate | GlobalGroupAggregate | IncrementalGroupAggregate, query: QueryPlan
) -> Sequence[AggregateCall]:
    if isinstance(node, GroupAggregate):
        return node.agg_calls
    below: ExecNode = query.input(query.input(node))
    if isinstance(below, LocalGroupAggregate):
        return below.agg_calls
    return node.agg_calls if isinstance(node, GlobalGroupAggregate) else ()


def _check(node: GroupAggregate | LocalGroupAggregate, plan: Plan, options: Mapping[str, str]) -> None:
    check_calls(node.agg_calls)


@translator(GroupAggregate, runs=_runs, check=_check, real_time=row_by_row)
def group_aggregate(node: GroupAggregate, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """One updating row a group."""
    (stream,) = inputs
    return _aggregate(
        context,
        stream,
        node.grouping,
        node.agg_calls,
        node.output_type,
        node.generate_update_before,
        node.ttl_ms(),
        folds=_folds(node, query_of(context)),
    )


@translator(
    LocalGroupAggregate,
    runs=lambda node, query: passed_by("the global phase does all"),
    check=_check,
    real_time=row_by_row,
)
def local_group_aggregate(node: LocalGroupAggregate, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Left to the global phase."""
    return replace(inputs[0], local=node)


@translator(GlobalGroupAggregate, runs=_runs, real_time=row_by_row)
def global_group_aggregate(
    node: GlobalGroupAggregate, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """The whole aggregation of what the local phase passed by."""
    (stream,) = inputs
    local = stream.local
    grouping, calls = node.grouping, node.agg_calls
    if isinstance(local, LocalGroupAggregate):
        grouping, calls = local.grouping, local.agg_calls
    return _aggregate(context, stream, grouping, calls, node.output_type, node.generate_update_before, node.ttl_ms())


@translator(IncrementalGroupAggregate, runs=_runs, real_time=row_by_row)
def incremental_group_aggregate(
    node: IncrementalGroupAggregate, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """The aggregation by the partial keys; the global phase aggregates its results once more."""
    (stream,) = inputs
    local = stream.local
    assert isinstance(local, LocalGroupAggregate)
    fields = [stream.type.fields[g] for g in local.grouping]
    results = [(f"$f{i}", call.type) for i, call in enumerate(local.agg_calls)]
    partial = row([*((f.name, f.type) for f in fields), *results])
    return _aggregate(context, stream, local.grouping, local.agg_calls, partial, True, node.ttl_ms())


def _aggregate(
    context: TranslationContext,
    stream: Stream,
    grouping: Sequence[int],
    calls: Sequence[AggregateCall],
    output_type: LogicalType,
    update_before: bool,
    ttl: int,
    folds: bool = True,
) -> Stream:
    query, node = query_of(context), context.node
    if node is not None and context.is_batch and query.joins.is_settled(query.input(node)):
        stream = stream.inserts if stream.changelog else stream
        if _is_native(node, query):
            if not any(call.distinct for call in calls):
                stream = brought_together(stream, grouping, query.input(node), context)
            return _grouped(stream, grouping, calls, output_type, traced=_is_numbered(node, query, calls))
    used = sorted({i for call in calls for i in (*call.arg_list, call.filter_arg) if i >= 0})
    frame = keyed(stream, grouping, [stream.column(i).alias(f"a{i}") for i in used])
    schema = context.java_schema(frame.schema)
    position = {index: max(1, len(grouping)) + at for at, index in enumerate(used)}
    types = output_type.field_types
    package = context.runtime.aggregate
    keys, count = max(1, len(grouping)), -1
    functions = java_calls(context, schema, stream, calls, position)
    folds = folds and not context.is_real_time
    numbered = folds and ttl == 0 and node is not None and _is_numbered(node, query, calls)
    if folds and not numbered and not stream.changelog and package.PreAggregate.isExact(functions):
        frame = context.frame(package.PreAggregate.run(frame._jdf, keys, functions))
        functions, count = package.PreAggregate.merged(keys, functions), keys
    aggregated = run_kernel(
        context,
        frame,
        keys,
        "aggregate.GroupAggregate",
        group=schema_of([key_type(t) for t in types[: len(grouping)]]),
        values=schema_of([call.type for call in calls], len(grouping)),
        calls=functions,
        updateBefore=update_before,
        folds=folds,
        numbered=numbered,
        count=count,
        ttl=ttl,
    )
    columns = [fields.field(aggregated, column_name(i)) for i in range(len(types))]
    columns[: len(grouping)] = key_values(columns[: len(grouping)], types[: len(grouping)])
    named = [column.alias(column_name(i)) for i, column in enumerate(columns)]
    return Stream(fields.select(aggregated, [*named, KIND, ORDER, SEQUENCE]), output_type, changelog=True)


def _grouped(
    stream: Stream, grouping: Sequence[int], calls: Sequence[AggregateCall], output_type: LogicalType, *, traced: bool
) -> Stream:
    """The groups as Spark's own aggregation has them.

    Each has the number of its last row; ``traced``: of the last one that has changed it.
    """
    from pyspark.sql import functions as F

    types = output_type.field_types[: len(grouping)]
    results = [native_aggregate(call, stream).alias(column_name(len(grouping) + i)) for i, call in enumerate(calls)]
    number = (F.min if traced else F.max)(stream.frame[SEQUENCE])
    if traced and calls:
        number = F.greatest(number, *(last_change(call, stream) for call in calls))
    grouped = stream.frame.groupBy(*key_columns(stream, grouping)).agg(*results, number.alias(SEQUENCE))
    keys = key_values([fields.field(grouped, f"k{i}") for i in range(len(grouping))], types)
    named = [key.alias(column_name(i)) for i, key in enumerate(keys)]
    values = [column_name(len(grouping) + i) for i in range(len(calls))]
    kind = F.lit(INSERT).cast("tinyint").alias(KIND)
    return Stream(fields.select(grouped, [*named, *values, kind, SEQUENCE]), output_type, changelog=True)


def _is_numbered(node: ExecNode, query: QueryPlan, calls: Sequence[AggregateCall]) -> bool:
    """Whether something behind looks at when a group changed last, and that need not have been its last row."""
    return node.id in query.numbered and not any(map(moves_by_each_row, calls))

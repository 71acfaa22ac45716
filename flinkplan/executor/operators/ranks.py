"""Deduplication, Top-N and LIMIT: which rows of a key or partition are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...plan.document import Plan
from ...plan.errors import UnsupportedError
from ...plan.nodes import Deduplicate, Limit, Rank, SortLimit
from ...plan.specs import (
    AppendFastStrategy,
    ConstantRankRange,
    ConstantRankRangeWithoutEnd,
    RankRange,
    RankStrategy,
    SortSpec,
    UpdateFastStrategy,
    VariableRankRange,
)
from ..context import TranslationContext
from ..event_time import with_event_time
from ..execution import TIMER, Execution, QueryPlan, kernel, query_of, until_watermark, with_ttl
from ..jvm.types import spark_type
from ..kernels import int_array, java_type, keyed, run_kernel, schema_of, sort_fields
from ..registry import by_watermark, row_by_row, translator
from ..stream import ROW, Stream, column_name
from ..window_kernels import emitted, run_timed, timed_input

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NO_ORDER = SortSpec(())
_NO_END = 2**63 - 1
_FIRST = 1000
"""Up to so many rows that are wanted stand in one value, which is written whole."""


def _runs_deduplicate(node: Deduplicate, query: QueryPlan) -> Execution:
    if node.is_rowtime and node.output_insert_only:
        state = until_watermark("ValueState", "deduplicateState", "the first row, and whether it is out")
        return kernel(node, query, "time.KeepFirst", "the first row is known when the watermark says so", state, TIMER)
    holds = "the row" if node.is_rowtime or node.keep_last_row else "that there was one"
    state = with_ttl("ValueState", "deduplicateState", holds, node.ttl_ms())
    return kernel(node, query, "rank.Deduplicate", "each key's state expires by itself", state)


def _runs_top_n(node: Rank | SortLimit | Limit, query: QueryPlan) -> Execution:
    found_by = "content"
    if isinstance(node.rank_strategy, UpdateFastStrategy):
        found_by = query.columns(query.input(node), node.rank_strategy.primary_keys)
    entries = f"row and arrivals by {found_by}"
    states = [with_ttl("MapState", "rankState", entries, node.ttl_ms())]
    if _keeps_first(node):
        states = [
            with_ttl("ValueState", "rankState-first", "the first rows", node.ttl_ms()),
            with_ttl("MapState", "rankState", f"of others, {entries}", node.ttl_ms()),
        ]
    return kernel(node, query, "rank.TopN", "rows that leave the ranking are taken back", *states)


def _keeps_first(node: Rank | SortLimit | Limit) -> bool:
    """Whether the first rows of a partition stand in one value: none expires by itself, and it is known how many."""
    kept = node.rank_range
    return node.ttl_ms() == 0 and isinstance(kept, ConstantRankRange) and kept.end <= _FIRST


def _real_time_deduplicate(node: Deduplicate, query: QueryPlan) -> str | None:
    return by_watermark(node, query) if node.is_rowtime and node.output_insert_only else None


@translator(Deduplicate, runs=_runs_deduplicate, real_time=_real_time_deduplicate)
def deduplicate(node: Deduplicate, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """The first or last row of each key."""
    (stream,) = inputs
    if node.is_rowtime and node.output_insert_only:
        return _keep_first_by_time(node, stream, context)
    changelog = node.keep_last_row or node.is_rowtime
    frame = keyed_rows(stream, node.unique_keys)
    kept = run_kernel(
        context,
        frame,
        max(1, len(node.unique_keys)),
        "rank.Deduplicate",
        row=schema_of(stream.type.field_types),
        timeColumn=_rowtime(stream) if node.is_rowtime else -1,
        keepLast=node.keep_last_row,
        updateBefore=node.generate_update_before,
        folds=context.folds_changes and query_of(context).folds_at(node),
        changelog=changelog,
        ttl=node.ttl_ms(),
    )
    return Stream(kept, node.output_type, changelog, pulse=stream.pulse)


def _keep_first_by_time(node: Deduplicate, stream: Stream, context: TranslationContext) -> Stream:
    """The first row of each key by event time, once the watermark says that no earlier one can come."""
    from pyspark.sql import functions as F

    timed = with_event_time(stream)
    frame = timed_input(timed, node.unique_keys, [F.struct(*timed.columns).alias(ROW)])
    schema = schema_of(stream.type.field_types)
    keys = max(1, len(node.unique_keys))
    kept = run_timed(context, frame, keys, "time.KeepFirst", row=schema, timeColumn=_rowtime(stream))
    return emitted(timed, kept, node.output_type)


def _rowtime(stream: Stream) -> int:
    return next(i for i, t in enumerate(stream.type.field_types) if t.is_rowtime)


_RANGES = (ConstantRankRange, ConstantRankRangeWithoutEnd, VariableRankRange)


def _check(node: Rank | SortLimit | Limit, plan: Plan, options: Mapping[str, str]) -> None:
    """With RANK and DENSE_RANK Flink compiles plans that it cannot run."""
    if isinstance(node, Rank) and node.rank_type != "ROW_NUMBER":
        raise UnsupportedError(f"{node.rank_type}() on a stream", hint="as in Flink, rank by ROW_NUMBER()")
    if not isinstance(node.rank_range, _RANGES):
        raise UnsupportedError(f"the rank range {node.rank_range} cannot be executed")


@translator(Rank, runs=_runs_top_n, check=_check, real_time=row_by_row)
def rank(node: Rank, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Top-N of each partition."""
    return _top_n(context, node, inputs[0], node.partition.fields, node.order_by, node.output_row_number)


@translator(SortLimit, runs=_runs_top_n, check=_check, real_time=row_by_row)
def sort_limit(node: SortLimit, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """The first rows of all in an order."""
    return _top_n(context, node, inputs[0], (), node.order_by, False)


@translator(Limit, runs=_runs_top_n, check=_check, real_time=row_by_row)
def limit(node: Limit, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """The first rows of all in the order they came."""
    return _top_n(context, node, inputs[0], (), _NO_ORDER, False)


def _top_n(
    context: TranslationContext,
    node: Rank | SortLimit | Limit,
    stream: Stream,
    partition: Sequence[int],
    order: SortSpec,
    output_number: bool,
) -> Stream:
    changelog = stream.changelog or not isinstance(node, Limit)
    frame = keyed_rows(stream, partition)
    fields = order.fields
    ranked = run_kernel(
        context,
        frame,
        max(1, len(partition)),
        "rank.TopN",
        row=schema_of(stream.type.field_types),
        order=sort_fields(context, fields),
        range=_range(context, node.rank_range, stream),
        keeping=_keeping(context, node.rank_strategy),
        keepsFirst=_keeps_first(node),
        outputNumber=output_number,
        updateBefore=node.generate_update_before,
        folds=context.folds_changes
        and query_of(context).folds_at(node)
        and not (isinstance(node, Rank) and node.is_first_row_final),
        changelog=changelog,
        ttl=node.ttl_ms(),
    )
    if output_number:
        ranked = ranked.withColumnRenamed("rank", column_name(len(stream.type.fields)))
    top = Stream(ranked, node.output_type, changelog, pulse=stream.pulse)
    stays = isinstance(node, Rank) and node.is_first_row_final and not query_of(context).is_changelog(node)
    return top.inserts if stays else top  # an update of what is to stay is one more row


def keyed_rows(stream: Stream, keys: Sequence[int]) -> DataFrame:
    """The key columns and the whole row as one struct."""
    from pyspark.sql import functions as F

    return keyed(stream, keys, [F.struct(*stream.columns).alias(ROW)])


def _range(context: TranslationContext, kept: RankRange, stream: Stream) -> Any:
    made = context.runtime.rank.Range
    match kept:
        case ConstantRankRange(start, end):
            return made(start, end, -1, None)
        case ConstantRankRangeWithoutEnd(start):
            return made(start, _NO_END, -1, None)
        case VariableRankRange(column):
            return made(1, 0, column, java_type(context, spark_type(stream.type.field_types[column])))
    raise AssertionError("it was checked")


def _keeping(context: TranslationContext, strategy: RankStrategy) -> Any:
    keys = int_array(context, strategy.primary_keys) if isinstance(strategy, UpdateFastStrategy) else None
    forgets = isinstance(strategy, AppendFastStrategy | UpdateFastStrategy)
    return context.runtime.rank.Keeping(forgets, keys)

"""Deduplication, Top-N and LIMIT: which rows of a key or partition are kept."""

from __future__ import annotations

from typing import Any

from ....plan.nodes import Deduplicate, Limit, Rank, SortLimit
from ....plan.specs import (
    AppendFastStrategy,
    ConstantRankRange,
    ConstantRankRangeWithoutEnd,
    RankRange,
    RankStrategy,
    UpdateFastStrategy,
    VariableRankRange,
)
from ...jvm.spark import F
from ...jvm.types import spark_type
from ...prepare.choose.ranks import KernelDeduplicate, KernelKeepFirst, KernelTopN
from ..context import TranslationContext
from ..kernels import int_array, java_type, keyed_rows, run_kernel, schema_of, sort_fields
from ..registry import builder
from ..stream import ROW, Stream, column_name
from ..time.event_time import with_event_time
from ..windows.kernels import emitted, run_timed, timed_input

_NO_END = 2**63 - 1


@builder(KernelDeduplicate, Deduplicate)
def deduplicate(
    node: Deduplicate, step: KernelDeduplicate, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """The first or last row of each key."""
    (stream,) = inputs
    frame = keyed_rows(stream, node.unique_keys)
    kept = run_kernel(
        context,
        step,
        frame,
        max(1, len(node.unique_keys)),
        row=schema_of(stream.type.field_types),
        timeColumn=step.time,
        keepLast=node.keep_last_row,
        updateBefore=node.generate_update_before,
        folds=step.folds,
        changelog=step.changelog,
        ttl=node.ttl_ms(),
    )
    return Stream(kept, node.output_type, step.changelog, pulse=stream.pulse)


@builder(KernelKeepFirst, Deduplicate)
def keep_first(
    node: Deduplicate, step: KernelKeepFirst, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """The first row of each key by event time, once the watermark says that no earlier one can come."""
    (stream,) = inputs
    timed = with_event_time(stream)
    frame = timed_input(timed, node.unique_keys, [F.struct(*timed.columns).alias(ROW)])
    schema = schema_of(stream.type.field_types)
    keys = max(1, len(node.unique_keys))
    kept = run_timed(context, step, frame, keys, row=schema, timeColumn=step.time)
    return emitted(timed, kept, node.output_type)


@builder(KernelTopN, Rank, SortLimit, Limit)
def top_n(
    node: Rank | SortLimit | Limit, step: KernelTopN, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """The first rows of each partition."""
    (stream,) = inputs
    frame = keyed_rows(stream, step.partition)
    ranked = run_kernel(
        context,
        step,
        frame,
        max(1, len(step.partition)),
        row=schema_of(stream.type.field_types),
        order=sort_fields(context, step.order),
        range=_range(context, node.rank_range, stream),
        keeping=_keeping(context, node.rank_strategy),
        keepsFirst=step.keeps_first,
        outputNumber=step.numbered,
        updateBefore=node.generate_update_before,
        folds=step.folds,
        changelog=step.changelog,
        ttl=node.ttl_ms(),
    )
    if step.numbered:
        ranked = ranked.withColumnRenamed("rank", column_name(len(stream.type.fields)))
    top = Stream(ranked, node.output_type, step.changelog, pulse=stream.pulse)
    return top.inserts if step.stays else top


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

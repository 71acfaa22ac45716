"""The operators of batch plans that streaming mode does not have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....plan.nodes import (
    BatchAggregate,
    BatchLimit,
    BatchRank,
    BatchSort,
    BatchSortLimit,
    BatchWindowTableFunction,
    Rank,
    Sort,
    SortLimit,
)
from ....plan.record import replace
from ....plan.specs import SortField, TimeAttributeWindowing
from ...jvm.spark import F, fields, sql
from ...prepare.choose.aggregates import KernelGroups, NativeGroups
from ...prepare.choose.batch import NO_END, NativeLimit, NativeRank, NativeSort
from ...prepare.choose.window_functions import NativeWindowRows
from ..context import TranslationContext
from ..final_rows import as_changelog, rows_that_stay
from ..kernels import key_part
from ..registry import builder
from ..stream import SEQUENCE, Stream, column_name
from .aggregates import kernel_groups, native_groups
from .window_functions import window_rows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_LONGEST = 2**31 - 1
"""The most rows that Spark limits to."""


@builder(NativeGroups, BatchAggregate)
def groups(node: BatchAggregate, step: NativeGroups, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """By Spark's own aggregation."""
    return native_groups(node, step, inputs, context).inserts


@builder(KernelGroups, BatchAggregate)
def groups_by_kernel(
    node: BatchAggregate, step: KernelGroups, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """By a kernel."""
    return kernel_groups(node, step, inputs, context).inserts


@builder(NativeSort, BatchSort, Sort)
def sort(node: BatchSort | Sort, step: NativeSort, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """All rows in one task, as Flink's, whose files and prints then have the order, too."""
    stream = rows_that_stay(inputs[0], nets=step.nets)
    ordered = stream.frame.repartition(1).sortWithinPartitions(*sort_columns(stream, step.order), SEQUENCE)
    return _numbered(stream, ordered)


@builder(NativeLimit, BatchLimit, BatchSortLimit, SortLimit)
def limit(
    node: BatchLimit | BatchSortLimit | SortLimit,
    step: NativeLimit,
    inputs: tuple[Stream, ...],
    context: TranslationContext,
) -> Stream:
    """The first rows, in their order."""
    stream = rows_that_stay(inputs[0], nets=step.nets)
    frame = stream.frame.orderBy(*sort_columns(stream, step.order), SEQUENCE)
    if step.start:
        frame = frame.offset(step.start)
    if step.end < NO_END and step.end - step.start <= _LONGEST:
        frame = frame.limit(step.end - step.start)
    elif step.order:
        frame = frame.coalesce(1)
    rows = _numbered(stream, frame)
    return as_changelog(rows) if isinstance(node, SortLimit) else rows


def _numbered(stream: Stream, ordered: DataFrame) -> Stream:
    """Rows that stand in the order of ``ordered``, for operators behind that go by it."""
    visible = [fields.field(ordered, column_name(i)) for i in range(len(stream.type.fields))]
    number = F.monotonically_increasing_id().alias(SEQUENCE)
    named = [column.alias(column_name(i)) for i, column in enumerate(visible)]
    return Stream(ordered.select(*named, number), stream.type)


@builder(NativeRank, BatchRank, Rank)
def rank(node: BatchRank | Rank, step: NativeRank, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """The rows of some ranks, with their rank if the node shows it."""
    stream = rows_that_stay(inputs[0], nets=step.nets)
    keys = [key_part(stream.column(k), stream.type.field_types[k]) for k in step.partition]
    window = sql.Window.partitionBy(*keys).orderBy(*sort_columns(stream, step.order))
    name = column_name(len(stream.type.fields))
    function = F.dense_rank() if step.is_dense else F.rank()
    ranked = stream.frame.withColumn(name, function.over(window).cast("bigint"))
    kept = ranked.where(ranked[name].between(step.start, step.end))
    columns = [column_name(i) for i in range(len(node.output_type.fields))]
    rows = replace(stream, frame=kept.select(*columns, *stream.hidden), type=node.output_type)
    return as_changelog(rows) if isinstance(node, Rank) else rows


@builder(NativeWindowRows, BatchWindowTableFunction)
def windows(
    node: BatchWindowTableFunction, step: NativeWindowRows, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """Each row once per window; rows without a time are in none.

    Source: ``AlignedWindowTableFunctionOperator``.
    """
    (stream,) = inputs
    if isinstance(node.windowing, TimeAttributeWindowing):
        stream = stream.where(stream.column(node.windowing.time_attribute_index).isNotNull())
    return window_rows(node, step, (stream,), context)


def sort_columns(stream: Stream, order: Sequence[SortField]) -> list[Column]:
    """The columns of an ORDER BY."""
    return [directed(stream.column(field.index), field) for field in order]


def directed(column: Column, field: SortField) -> Column:
    """A column of an ORDER BY with its direction."""
    if field.is_ascending:
        return column.asc_nulls_last() if field.null_is_last else column.asc_nulls_first()
    return column.desc_nulls_last() if field.null_is_last else column.desc_nulls_first()

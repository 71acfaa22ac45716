"""Regular joins: of two inputs or more, row by row or by Spark."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from ....plan.nodes import BatchHashJoin, BatchNestedLoopJoin, Join, MultiJoin
from ....plan.specs import JoinType
from ...jvm.spark import F, fields
from ...prepare.choose.joins import KeptRows, KernelJoin, KernelMultiJoin, NativeJoin
from ..context import TranslationContext
from ..kernels import (
    boolean_array,
    changelog_columns,
    condition,
    int_array,
    java_record,
    key_columns,
    key_part,
    object_array,
    run_kernel,
    schema_of,
)
from ..registry import builder
from ..stream import INPUT, INSERT, KIND, ORDER, RIGHT, SEQUENCE, TIE, TIE_TYPE, Stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LEFT, _RIGHT = "left", "right"


@builder(KernelJoin, Join)
def kernel_join(node: Join, step: KernelJoin, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Bring both sides' rows together by key and let the kernel match them."""
    left, right = inputs
    spec = node.join_spec
    if not step.keeps_left:
        left = _without_null_keys(left, spec.left_keys, spec.filter_nulls)
    if not step.keeps_right:
        right = _without_null_keys(right, spec.right_keys, spec.filter_nulls)
    joined = run_kernel(
        context,
        step,
        _union(node, left, right),
        max(1, len(spec.left_keys)),
        "join.JoinKernel$Spec",
        columns=schema_of(node.output_type.field_types),
        kind=join_kind(context, spec.join_type),
        changelog=step.changelog,
        ordered=step.ordered,
        left=_side(context, step.left, left),
        right=_side(context, step.right, right),
        filterNulls=boolean_array(context, spec.filter_nulls),
        condition=condition(context, spec.non_equi_condition, left.type.field_types + right.type.field_types),
    )
    return Stream(joined, node.output_type, step.changelog)


@builder(NativeJoin, Join, BatchHashJoin, BatchNestedLoopJoin)
def native_join(
    node: Join | BatchHashJoin | BatchNestedLoopJoin,
    step: NativeJoin,
    inputs: tuple[Stream, ...],
    context: TranslationContext,
) -> Stream:
    """The rows of Spark's own join, whose columns ``NativeJoin.java`` names by their sides."""
    spec = node.join_spec
    types = [stream.type.field_types for stream in inputs]
    left, right = ([fields.unbound(f"{side}{i}") for i in range(len(t))] for side, t in zip("lr", types, strict=True))
    conditions = []
    for i, j, is_filtered in zip(spec.left_keys, spec.right_keys, spec.filter_nulls, strict=True):
        ours, theirs = key_part(left[i], types[0][i]), key_part(right[j], types[1][j])
        conditions.append(ours == theirs if is_filtered else ours.eqNullSafe(theirs))
    if spec.non_equi_condition is not None:
        conditions.append(context.expression_over(spec.non_equi_condition, [*left, *right]))
    if not conditions and spec.join_type is not JoinType.INNER:
        conditions.append(F.lit(True))
    joined = context.runtime.join.NativeJoin.join(
        *(stream.frame._jdf for stream in inputs),
        reduce(and_, conditions)._jc if conditions else None,
        step.kind,
        step.changelog,
        node.id if step.ordered else None,
    )
    return Stream(context.frame(joined), node.output_type, step.changelog)


@builder(KernelMultiJoin, MultiJoin)
def multi_join(
    node: MultiJoin, step: KernelMultiJoin, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """Bring all inputs' rows together by their common key and let the kernel join them."""
    frame = _union_of_all(inputs, step.keys)
    conditions = []
    types = inputs[0].type.field_types[:0]
    for stream, rex in zip(inputs, node.join_conditions, strict=True):
        types += stream.type.field_types
        conditions.append(condition(context, rex, types))
    sides = [_side(context, side, stream) for side, stream in zip(step.sides, inputs, strict=True)]
    joined = run_kernel(
        context,
        step,
        frame,
        max(1, len(step.keys[0])),
        columns=schema_of(node.output_type.field_types),
        changelog=step.changelog,
        sides=object_array(context, getattr(context.runtime.join, "JoinSide$Spec"), sides),
        preserves=boolean_array(context, step.preserves),
        conditions=object_array(context, context.runtime.catalyst.Condition, conditions),
        folds=step.folds,
    )
    return Stream(joined, node.output_type, step.changelog)


def _without_null_keys(stream: Stream, keys: Sequence[int], filter_nulls: Sequence[bool]) -> Stream:
    """The rows whose key can match at all."""
    for key, filtered in zip(keys, filter_nulls, strict=True):
        if filtered:
            stream = stream.where(stream.column(key).isNotNull())
    return stream


def _union(node: Join, left: Stream, right: Stream) -> DataFrame:
    """Key, side, one struct a side, and the hidden columns, in one frame."""
    wanted = {h for stream in (left, right) for h in changelog_columns(stream)}
    absent = {
        KIND: F.lit(INSERT).cast("tinyint").alias(KIND),
        ORDER: F.lit(0).cast("bigint").alias(ORDER),
        TIE: F.lit(None).cast(TIE_TYPE).alias(TIE),
    }
    left_schema, right_schema = schema_of(left.type.field_types), schema_of(right.type.field_types)

    def shaped(stream: Stream, keys: Sequence[int], is_right: bool) -> DataFrame:
        row = F.struct(*stream.columns)
        sides = [
            (F.lit(None).cast(left_schema) if is_right else row).alias(_LEFT),
            (row if is_right else F.lit(None).cast(right_schema)).alias(_RIGHT),
        ]
        present = {h: stream.frame[h] for h in changelog_columns(stream)}
        hidden = [present[h] if h in present else absent[h] for h in (KIND, TIE, ORDER, SEQUENCE) if h in wanted]
        return stream.frame.select(*key_columns(stream, keys), F.lit(is_right).alias(RIGHT), *sides, *hidden)

    return shaped(left, node.join_spec.left_keys, False).union(shaped(right, node.join_spec.right_keys, True))


def _union_of_all(inputs: tuple[Stream, ...], keys: Sequence[tuple[int, ...]]) -> DataFrame:
    """Key, number of the input, one struct an input, and the hidden columns, in one frame."""
    changelog = any(s.changelog for s in inputs)
    schemas = [schema_of(s.type.field_types) for s in inputs]

    def shaped(index: int, stream: Stream) -> DataFrame:
        rows = [
            (F.struct(*stream.columns) if i == index else F.lit(None).cast(schema)).alias(f"row{i}")
            for i, schema in enumerate(schemas)
        ]
        kind = stream.frame[KIND] if stream.changelog else F.lit(0).cast("tinyint")
        place = stream.frame[ORDER] if ORDER in stream.hidden else F.lit(0).cast("bigint")
        hidden = [*([kind.alias(KIND), place.alias(ORDER)] if changelog else []), stream.frame[SEQUENCE]]
        return stream.frame.select(*key_columns(stream, keys[index]), F.lit(index).alias(INPUT), *rows, *hidden)

    return reduce(lambda a, b: a.union(b), (shaped(i, s) for i, s in enumerate(inputs)))


def join_kind(context: TranslationContext, kind: JoinType) -> Any:
    """What a join emits, for its kernel."""
    return context.runtime.join.JoinKind.valueOf(kind.name)


def _side(context: TranslationContext, kept: KeptRows, stream: Stream) -> Any:
    """How a side's rows are kept, for the kernel."""
    return java_record(
        context,
        "join.JoinSide$Spec",
        name=kept.state,
        row=schema_of(stream.type.field_types),
        ttl=kept.ttl,
        uniqueKey=None if kept.unique is None else int_array(context, kept.unique),
        single=kept.single,
        appendOnly=kept.appended,
    )

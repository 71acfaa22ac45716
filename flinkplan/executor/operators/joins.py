"""The regular join: both sides kept in state until their TTL.

Source of the rules: Flink's ``StreamExecJoin`` and ``JoinInputSideSpec``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from ...plan.nodes import Join
from ...plan.specs import JoinType
from ..context import TranslationContext
from ..execution import Execution, QueryPlan, kernel, query_of, with_ttl
from ..join_sides import join_kind, kept_rows, side_spec
from ..jvm.spark import fields
from ..kernels import boolean_array, changelog_columns, condition, key_columns, key_part, run_kernel, schema_of
from ..native_joins import native_type
from ..registry import translator, united
from ..stream import INSERT, KIND, ORDER, RIGHT, SEQUENCE, TIE, TIE_TYPE, Stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_STATES = ("leftState", "rightState")
_LEFT, _RIGHT = "left", "right"
_KEEPS_LEFT = (JoinType.LEFT, JoinType.FULL, JoinType.ANTI)
_KEEPS_RIGHT = (JoinType.RIGHT, JoinType.FULL)
_LEFT_ONLY = (JoinType.SEMI, JoinType.ANTI)


def _runs(node: Join, query: QueryPlan) -> Execution:
    spec = node.join_spec
    if query.is_batch and query.joins.obstacle(node) is None:
        return Execution("native", "Join", "all rows are there, and none is taken back")
    kind = spec.join_type
    counted = (kind in _KEEPS_LEFT or kind in _LEFT_ONLY, kind in _KEEPS_RIGHT)
    sides = zip(
        (spec.left_keys, spec.right_keys), (node.left_upsert_keys, node.right_upsert_keys), counted, strict=True
    )
    states = []
    for index, (keys, upsert_keys, counts) in enumerate(sides):
        source = query.input(node, index)
        kept = kept_rows(keys, upsert_keys, counts or query.is_changelog(source))
        holds = kept.holds(query.columns(source, kept.unique or ()))
        states.append(with_ttl(kept.kind, _STATES[index], holds, node.ttl_ms(index)))
    name = "join.SemiAntiJoin" if kind in _LEFT_ONLY else "join.StreamingJoin"
    return kernel(node, query, name, "rows of either side expire one by one and can be taken back", *states)


@translator(Join, runs=_runs, real_time=united)
def join(node: Join, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Bring both sides' rows together by key and let the kernel match them, or Spark where it can."""
    if context.is_batch and query_of(context).joins.obstacle(node) is None:
        return _joined_natively(node, inputs, context)
    left, right = inputs
    spec = node.join_spec
    kind = spec.join_type
    if kind not in _KEEPS_LEFT:
        left = _without_null_keys(left, spec.left_keys, spec.filter_nulls)
    if kind not in _KEEPS_RIGHT:
        right = _without_null_keys(right, spec.right_keys, spec.filter_nulls)
    frame = _union(node, left, right)
    preserve_left, preserve_right = kind in _KEEPS_LEFT, kind in _KEEPS_RIGHT
    changelog = left.changelog or right.changelog or preserve_left or preserve_right
    counts_left = preserve_left or kind in _LEFT_ONLY
    left_side = _side(context, 0, node, left, spec.left_keys, node.left_upsert_keys, counts_left)
    right_side = _side(context, 1, node, right, spec.right_keys, node.right_upsert_keys, preserve_right)
    joined = run_kernel(
        context,
        frame,
        max(1, len(spec.left_keys)),
        "join.SemiAntiJoin" if kind in _LEFT_ONLY else "join.StreamingJoin",
        "join.JoinKernel$Spec",
        columns=schema_of(node.output_type.field_types),
        kind=join_kind(context, kind),
        changelog=changelog,
        ordered=query_of(context).joins.needs_tie(node),
        left=left_side,
        right=right_side,
        filterNulls=boolean_array(context, spec.filter_nulls),
        condition=condition(context, spec.non_equi_condition, left.type.field_types + right.type.field_types),
    )
    return Stream(joined, node.output_type, changelog)


def _joined_natively(node: Join, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """The rows of Spark's own join, whose columns ``NativeJoin.java`` names by their sides."""
    from pyspark.sql import functions as F

    spec = node.join_spec
    kind = spec.join_type
    types = [of.type.field_types for of in inputs]
    left, right = ([fields.unbound(f"{side}{i}") for i in range(len(of))] for side, of in zip("lr", types, strict=True))
    conditions = []
    for i, j, is_filtered in zip(spec.left_keys, spec.right_keys, spec.filter_nulls, strict=True):
        ours, theirs = key_part(left[i], types[0][i]), key_part(right[j], types[1][j])
        conditions.append(ours == theirs if is_filtered else ours.eqNullSafe(theirs))
    if spec.non_equi_condition is not None:
        conditions.append(context.expression_over(spec.non_equi_condition, [*left, *right]))
    condition = reduce(and_, conditions) if conditions else F.lit(True)
    changelog = any(s.changelog for s in inputs) or kind in _KEEPS_LEFT or kind in _KEEPS_RIGHT
    joined = context.runtime.join.NativeJoin.join(
        *(stream.frame._jdf for stream in inputs),
        condition._jc,
        native_type(kind),
        changelog,
        node.id if query_of(context).joins.needs_tie(node) else None,
    )
    return Stream(context.frame(joined), node.output_type, changelog)


def _without_null_keys(stream: Stream, keys: Sequence[int], filter_nulls: Sequence[bool]) -> Stream:
    """The rows whose key can match at all."""
    for key, filtered in zip(keys, filter_nulls, strict=True):
        if filtered:
            stream = stream.where(stream.column(key).isNotNull())
    return stream


def _union(node: Join, left: Stream, right: Stream) -> DataFrame:
    """Key, side, one struct a side, and the hidden columns, in one frame."""
    from pyspark.sql import functions as F

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


def _side(
    context: TranslationContext,
    index: int,
    node: Join,
    stream: Stream,
    join_keys: Sequence[int],
    upsert_keys: tuple[tuple[int, ...], ...] | None,
    counted: bool,
) -> Any:
    """How a side's rows are kept: at most one a key, by their unique key, by content, or only appended."""
    kept = kept_rows(join_keys, upsert_keys, counted or stream.changelog)
    return side_spec(context, _STATES[index], stream, node.ttl_ms(index), kept)

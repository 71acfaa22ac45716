"""Joins with a table that is asked for the rows of each key of a batch.

Source of the rules: Flink's ``CommonExecLookupJoin`` and ``LookupJoinRunner``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ....plan.connectors.jdbc import LookupCache, lookup_cache
from ....plan.functions import comparison
from ....plan.nodes import DeltaJoin, LookupJoin
from ....plan.record import replace
from ....plan.rex import InputRef, RexNode, transform
from ....plan.specs import FieldLookupKey, JoinType
from ...connectors.tables import table_of
from ...jvm.spark import F
from ...jvm.types import cast_type
from ...prepare.steps import Kernel
from ..connectors import builder_of
from ..context import TranslationContext
from ..kernels import condition, java_record, kernel_class, schema_of
from ..registry import builder
from ..stream import Stream, column_name
from .relational import united

if TYPE_CHECKING:
    from pyspark.sql import Column


@builder(Kernel, LookupJoin)
def lookup_join(node: LookupJoin, step: Kernel, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Each row with those of its key in the table; LEFT: or with NULLs, if there are none."""
    (stream,) = inputs
    table = table_of(node.table, context.variables)
    fields = node.temporal_table.output_type.field_types
    own = [*stream.columns, *(stream.frame[h] for h in stream.hidden)]
    keys = _keys(node, stream, context)
    asked = F.lit(True)
    if node.pre_filter_condition is not None:
        asked = F.coalesce(context.expression(node.pre_filter_condition, stream), F.lit(False))
    frame = stream.frame.select(*own, *(key.alias(f"k{i}") for i, key in enumerate(keys)), asked.alias("asked"))
    retry, cache = node.retry_options, lookup_cache(table.options)
    spec = java_record(
        context,
        f"{step.kernel}$Spec",
        input=frame.schema,
        fields=len(stream.columns),
        keys=len(keys),
        table=schema_of(fields),
        lookup=builder_of(table).lookup(table, node, context),
        condition=condition(context, _condition(node, len(stream.columns)), (*stream.type.field_types, *fields)),
        keepsAll=node.join_type is JoinType.LEFT,
        retries=retry.attempts - 1 if retry else 0,
        delay=retry.fixed_delay if retry else 0,
        name=None if cache is None else str(uuid4()),
        limits=_limits(cache, context),
    )
    context.record_kernel(step.kernel)
    joined = context.frame(kernel_class(context, step.kernel).run(frame._jdf, spec))
    looked_up = [joined[f"t{i}"] for i in range(len(fields))]
    answers = [_unless_missing(context.expression_over(rex, looked_up), rex, joined["found"]) for rex in node.table_row]
    columns = [*(joined[column_name(i)] for i in range(len(stream.columns))), *answers]
    named = [c.alias(column_name(i)) for i, c in enumerate(columns)]
    return replace(stream, frame=joined.select(*named, *(joined[h] for h in stream.hidden)), type=node.output_type)


@builder(Kernel, DeltaJoin)
def delta_join(node: DeltaJoin, step: Kernel, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """The rows of each side with those of their keys in the table of the other one."""
    left, right = inputs
    to_right, to_left = node.lookups(len(left.columns))
    of_right = lookup_join(to_left, step, (right,), context)
    columns = [*of_right.columns[len(right.columns) :], *of_right.columns[: len(right.columns)]]
    named = [c.alias(column_name(i)) for i, c in enumerate(columns)]
    frame = of_right.frame.select(*named, *(of_right.frame[h] for h in of_right.hidden))
    swapped = replace(of_right, frame=frame, type=node.output_type)
    return united([lookup_join(to_right, step, (left,), context), swapped], node.output_type)


def _keys(node: LookupJoin, stream: Stream, context: TranslationContext) -> list[Column]:
    """What the table's columns are compared with, in their order."""
    types = node.temporal_table.output_type.field_types
    values = []
    for column, key in _ordered(node):
        if isinstance(key, FieldLookupKey):
            value = stream.column(key.index)
        else:
            value = context.expression_over(key.literal, [])
        values.append(value.cast(cast_type(types[column])))
    return values


def _ordered(node: LookupJoin) -> list[tuple[int, Any]]:
    return sorted((int(column), key) for column, key in node.lookup_keys.items())


def _condition(node: LookupJoin, width: int) -> RexNode | None:
    """What must hold of a row and one of the table, over the columns of both as they are read."""
    answers = [_shifted(rex, width) for rex in node.table_row]

    def over_table(rex: RexNode) -> RexNode:
        return answers[rex.index - width] if isinstance(rex, InputRef) and rex.index >= width else rex

    parts = []
    if node.filter_on_temporal_table is not None:
        parts.append(_shifted(node.filter_on_temporal_table, width))
    if node.join_condition is not None:
        parts.append(transform(node.join_condition, over_table))
    if len(parts) < 2:
        return parts[0] if parts else None
    return comparison.AND.call(*parts)


def _shifted(rex: RexNode, by: int) -> RexNode:
    return transform(rex, lambda part: replace(part, index=part.index + by) if isinstance(part, InputRef) else part)


def _unless_missing(value: Column, rex: RexNode, is_match: Column) -> Column:
    """What is made of a row of the table: of none, NULL."""
    return value if isinstance(rex, InputRef) else F.when(is_match, value)


def _limits(cache: LookupCache | None, context: TranslationContext) -> Any:
    if cache is None:
        return None
    limits = getattr(context.runtime.lookup, "LookupCache$Limits")
    return limits(cache.max_rows, cache.after_write, cache.after_access, cache.missing_keys)

"""Rows that stand in a plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...plan.rex import RexNode
from ...plan.types import LogicalType
from ..expressions.timestamps import with_nanos
from ..jvm.spark import F, T
from ..jvm.types import cast_type, has_nanos, spark_type
from .context import TranslationContext
from .stream import SEQUENCE, column_name
from .time.event_time import one_row

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def constant_rows(
    rows: Sequence[Sequence[RexNode]], types: Sequence[LogicalType], context: TranslationContext
) -> DataFrame:
    """The rows, once, as columns of these types and the number of each row; the expressions read no columns."""
    schema = rows_type(types)
    columns = [[_cell(rex, t, context) for rex, t in zip(row, types, strict=True)] for row in rows]
    listed = F.array(*(row_of(row, types) for row in columns)) if rows else F.lit(None)
    frame = one_row(context).select(F.posexplode(listed.cast(schema)).alias(SEQUENCE, "row"))
    fields = [frame["row"][column_name(i)].alias(column_name(i)) for i in range(len(types))]
    return frame.select(*fields, frame[SEQUENCE].cast("bigint").alias(SEQUENCE))


def _cell(rex: RexNode, t: LogicalType, context: TranslationContext) -> Column:
    column = context.expression_over(rex, [])
    return with_nanos(column) if has_nanos(t) and not has_nanos(rex.type) else column


def row_of(columns: Sequence[Column], types: Sequence[LogicalType]) -> Column:
    """A row of columns, as those of its table are named and held."""
    cast = (c.cast(cast_type(t)) for c, t in zip(columns, types, strict=True))
    return F.struct(*(c.alias(column_name(i)) for i, c in enumerate(cast)))


def rows_type(types: Sequence[LogicalType]) -> T.ArrayType:
    """The type of arrays of rows."""
    row = T.StructType([T.StructField(column_name(i), spark_type(t)) for i, t in enumerate(types)])
    return T.ArrayType(row)

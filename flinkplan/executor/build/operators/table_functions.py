"""Rows from values: constant tables and table functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ....plan.functions.java import java_function_of
from ....plan.nodes import Correlate, Values
from ....plan.record import replace
from ....plan.rex import Call, CorrelVariable, FieldAccess, InputRef, RexNode, transform
from ....plan.types import LogicalType
from ...jvm.spark import F
from ...jvm.types import field_name
from ...prepare.choose.table_functions import REPLICATE, UNNEST, UNNEST_WITH_ORDINALITY
from ...prepare.steps import Native
from ..constant_rows import constant_rows, row_of, rows_type
from ..context import TranslationContext
from ..java_functions import rows_column
from ..registry import builder
from ..stream import TICK, Stream, column_name

if TYPE_CHECKING:
    from pyspark.sql import Column


@builder(Native, Values)
def values(node: Values, step: Native, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Constant rows, once."""
    return Stream(constant_rows(node.tuples, node.output_type.field_types, context), node.output_type)


@builder(Native, Correlate)
def correlate(node: Correlate, step: Native, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Each row with the rows that a table function yields for it; LEFT: or with NULLs, if there are none."""
    (stream,) = inputs
    call = node.function_call
    assert isinstance(call, Call), "it was checked"
    width = len(stream.type.fields)
    arguments = [context.expression(uncorrelated(o, stream.type), stream) for o in call.operands]
    types = node.output_type.field_types[width:]
    own = java_function_of(call)
    if own is not None:
        rows = rows_column(context, call, own, arguments, rows_type(types).elementType)
    else:
        rows = _FUNCTIONS[call.name](arguments, [o.type for o in call.operands], types)
    if node.condition is not None:
        condition = node.condition
        names = [column_name(i) for i in range(len(types))]
        rows = F.filter(rows, lambda row: context.expression_over(condition, [row[n] for n in names]))
    names = [f"r{i}" for i in range(len(types))]
    explode = F.inline_outer if node.join_type == "LEFT" else F.inline
    rows = rows if own is not None else rows.cast(rows_type(types))
    if TICK in stream.hidden:  # a watermark passes once, whatever its row has
        none = F.array(row_of([F.lit(None)] * len(types), types)).cast(rows_type(types))
        rows = F.when(stream.frame[TICK].isNull(), rows).otherwise(none)
    frame = stream.frame.select("*", explode(rows).alias(*names))
    columns = [*(frame[column_name(i)] for i in range(width)), *(frame[n] for n in names)]
    named = [c.alias(column_name(i)) for i, c in enumerate(columns)]
    return replace(stream, frame=frame.select(*named, *(frame[h] for h in stream.hidden)), type=node.output_type)


def uncorrelated(rex: RexNode, row: LogicalType) -> RexNode:
    """The expression with the fields of the outer row as references to the input.

    A field that a table function before this one has added may have another name in the input, in the same place.
    """

    def rewrite(part: RexNode) -> RexNode:
        if isinstance(part, FieldAccess) and isinstance(part.expr, CorrelVariable):
            outer = row if part.name in row.field_names else part.expr.type
            return InputRef(outer.field_names.index(part.name), part.type)
        return part

    return transform(rex, rewrite)


_TableFunction = Callable[["Sequence[Column]", Sequence[LogicalType], Sequence[LogicalType]], "Column"]


def _unnest(arguments: Sequence[Column], given: Sequence[LogicalType], types: Sequence[LogicalType]) -> Column:
    """A row an element; the fields of elements that are rows become columns, and those that are NULL are left out."""
    elements = _elements(arguments[0], given[0])
    if _are_rows(given[0]):
        elements = F.filter(elements, lambda e: e.isNotNull())
    return F.transform(elements, lambda e: row_of(_fields(e, given[0]), types))


def _unnest_with_ordinality(
    arguments: Sequence[Column], given: Sequence[LogicalType], types: Sequence[LogicalType]
) -> Column:
    """A row an element, and its place from 1; one of NULLs for a row that is NULL."""
    elements = _elements(arguments[0], given[0])
    return F.transform(elements, lambda e, i: row_of([*_fields(e, given[0]), i + 1], types))


def _elements(collection: Column, of: LogicalType) -> Column:
    match of.root:
        case "MAP":
            return F.map_entries(collection)
        case "MULTISET":
            entries = F.map_entries(collection)
            return F.flatten(F.transform(entries, lambda e: F.array_repeat(e["key"], e["value"])))
    return collection


def _are_rows(collection: LogicalType) -> bool:
    return collection.root != "MAP" and collection.element.root in ("ROW", "STRUCTURED")


def _fields(element: Column, of: LogicalType) -> list[Column]:
    if of.root == "MAP":
        return [element["key"], element["value"]]
    if _are_rows(of):
        return [element[field_name(i)] for i in range(len(of.element.fields))]
    return [element]


def _replicate(arguments: Sequence[Column], given: Sequence[LogicalType], types: Sequence[LogicalType]) -> Column:
    """A row of all arguments but the first, as often as that says."""
    count, *columns = arguments
    return F.array_repeat(row_of(columns, types), count.cast("int"))


_FUNCTIONS: dict[str, _TableFunction] = {
    UNNEST: _unnest,
    UNNEST_WITH_ORDINALITY: _unnest_with_ordinality,
    REPLICATE: _replicate,
}

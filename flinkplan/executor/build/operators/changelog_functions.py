"""``FROM_CHANGELOG`` and ``TO_CHANGELOG``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from ....plan.functions.changelog import ChangelogCall
from ....plan.nodes import ProcessTableFunction
from ....plan.record import replace
from ....plan.specs import RowKind
from ...jvm.spark import F
from ...jvm.types import cast_type
from ...prepare.choose.process_tables import FromChangelog, ToChangelog
from ..context import TranslationContext
from ..registry import builder
from ..stream import INSERT, KIND, ORDER, ROW_KINDS, TICK, UPDATE_BEFORE, Stream, column_name, place_of_part

if TYPE_CHECKING:
    from pyspark.sql import Column


@builder(FromChangelog, ProcessTableFunction)
def from_changelog(
    node: ProcessTableFunction, step: FromChangelog, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """Rows of the kinds that the column with the operation names."""
    (stream,) = inputs
    call = step.call
    codes = {code: ROW_KINDS[RowKind(kind)] for code, kind in call.mapping.items()}
    kind = _mapped(codes, stream.column(call.op_index).cast("string")).cast("tinyint")
    checked = F.coalesce(kind, F.raise_error(_unknown_operation(call, stream)).cast("tinyint"))
    if TICK in stream.hidden:
        checked = F.when(stream.frame[TICK].isNull(), checked).otherwise(F.lit(INSERT).cast("tinyint"))
    columns = [stream.column(i) for i in (*call.table.partition_keys, *call.kept)]
    frame = stream.frame.select(*_named(node, columns), checked.alias(KIND), *stream.hidden)
    return replace(stream, frame=frame, type=node.output_type, changelog=True)


def _unknown_operation(call: ChangelogCall, stream: Stream) -> Column:
    op = stream.column(call.op_index).cast("string")
    known = ", ".join(call.mapping)
    unknown = F.concat(F.lit(f"FROM_CHANGELOG: the column '{call.op}' is '"), op, F.lit(f"', which is none of {known}"))
    return F.coalesce(unknown, F.lit(f"FROM_CHANGELOG: the column '{call.op}' is NULL"))


@builder(ToChangelog, ProcessTableFunction)
def to_changelog(
    node: ProcessTableFunction, step: ToChangelog, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """All changes as rows that are inserted, those of kinds without a code left out."""
    (stream,) = inputs
    call = step.call
    codes = {ROW_KINDS[RowKind(kind)]: code for kind, code in call.mapping.items()}
    op = _mapped(codes, stream.frame[KIND]) if stream.changelog else F.lit(codes.get(INSERT)).cast("string")
    columns = [*(stream.column(i) for i in call.table.partition_keys), op, *(stream.column(i) for i in call.kept)]
    hidden = [stream.frame[name] for name in stream.hidden if name not in (KIND, ORDER)]
    if stream.changelog:  # without its kind, the old row of an update is before the new one by its place
        whole = stream.frame[ORDER] if ORDER in stream.hidden else F.lit(0).cast("bigint")
        first = stream.frame[KIND] == UPDATE_BEFORE
        place = F.when(first, place_of_part(whole, 0, 2)).otherwise(place_of_part(whole, 1, 2))
        hidden.append(place.alias(ORDER))
    frame = stream.frame.select(*_named(node, columns), *hidden)
    emitted = replace(stream, frame=frame, type=node.output_type, changelog=False)
    return emitted.where(emitted.column(len(call.table.partition_keys)).isNotNull())


def _mapped(values: Mapping[int, str] | Mapping[str, int], column: Column) -> Column:
    """The value for each value of a column; NULL for another one."""
    literals = [F.lit(each) for each in chain.from_iterable(values.items())]
    return F.create_map(*literals)[column] if literals else F.lit(None)


def _named(node: ProcessTableFunction, columns: Sequence[Column]) -> list[Column]:
    types = node.output_type.field_types
    return [c.cast(cast_type(t)).alias(column_name(i)) for i, (c, t) in enumerate(zip(columns, types, strict=True))]

"""What a sink does with rows that break its table's constraints.

Source: Flink's options ``table.exec.sink.not-null-enforcer``, ``table.exec.sink.type-length-enforcer`` and
``table.exec.sink.nested-constraint-enforcer``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import TYPE_CHECKING

from ...plan.nodes import Sink
from ...plan.record import Record
from ...plan.types import INT, STRING_LENGTH, LogicalType
from ..connectors.tables import Table
from ..jvm.spark import F
from ..jvm.types import field_name
from ..prepare.known.constraints import LENGTH, NESTED, NOT_NULL
from .context import TranslationContext
from .stream import Stream

if TYPE_CHECKING:
    from pyspark.sql import Column

_ROWS = ("ROW", "STRUCTURED")
_COLLECTIONS = ("ARRAY", "MAP", "MULTISET")
_FIXED = ("CHAR", "BINARY")


def enforce_constraints(node: Sink, table: Table, stream: Stream, context: TranslationContext) -> Stream:
    """Drop, mend or refuse (when the job runs) the rows that the table's columns cannot hold.

    ``check_enforcers`` has let it pass.
    """
    length, nested = context.query.option(node, LENGTH), context.query.option(node, NESTED)
    enforcer = _Enforcer(context.query.option(node, NOT_NULL) == "DROP", length, nested)
    held = len(table.physical)  # metadata that is written stands behind
    columns = list(zip(stream.columns[:held], table.physical, strict=True))
    if enforcer.drops:
        stream = stream.where(_all(enforcer.keeps(column, declared) for column, (_, declared) in columns))
    mended = [enforcer.mended(column, name, declared) for column, (name, declared) in columns]
    return stream.select([*mended, *stream.columns[held:]], stream.type)


class _Enforcer(Record):
    """``drops``: a row with a NULL where none may be is left out, instead of failing the job.

    ``length`` and ``nested`` are the values of the options.
    """

    drops: bool
    length: str
    nested: str

    def keeps(self, column: Column, declared: LogicalType) -> Column:
        """Whether no NULL stands where none may be."""
        conditions = [] if declared.nullable else [column.isNotNull()]
        if self._descends(declared):
            keeps = self.keeps if declared.root in _ROWS else self._keeps_all
            inner = (keeps(part, of) for part, _, of in _parts(column, declared))
            conditions.append(column.isNull() | _all(inner))
        return _all(conditions)

    def _keeps_all(self, elements: Column, of: LogicalType) -> Column:

        return F.forall(elements, lambda element: self.keeps(element, of))

    def mended(self, column: Column, name: str, declared: LogicalType) -> Column:
        """The value as the column ``name`` takes it; where it cannot, an error when the job runs."""

        if self.length != "IGNORE":
            column = _fitted(column, name, declared, strict=self.length == "ERROR")
        if self._descends(declared):
            column = F.when(column.isNotNull(), self._mended_inside(column, name, declared))
        if declared.nullable or self.drops:
            return column
        return F.coalesce(column, F.raise_error(F.lit(_null_message(name))))

    def _mended_inside(self, column: Column, name: str, declared: LogicalType) -> Column:

        parts = _parts(column, declared)
        if declared.root in _ROWS:
            fields = [self.mended(part, f"{name}.{inner}", of) for part, inner, of in parts]
            return F.struct(*(field.alias(field_name(i)) for i, field in enumerate(fields)))
        lists = [self._mended_all(part, f"{name}.{inner}", of) for part, inner, of in parts]
        return lists[0] if declared.root == "ARRAY" else F.map_from_arrays(*lists)

    def _mended_all(self, elements: Column, name: str, of: LogicalType) -> Column:

        return F.transform(elements, lambda element: self.mended(element, name, of))

    def _descends(self, declared: LogicalType) -> bool:
        """Whether anything inside a value has to be looked at."""
        roots = {"ROWS": _ROWS, "ROWS_AND_COLLECTIONS": (*_ROWS, *_COLLECTIONS)}.get(self.nested, ())
        return declared.root in roots and any(self._constrains(t) for t in _inner(declared))

    def _constrains(self, declared: LogicalType) -> bool:
        limited = self.length != "IGNORE" and _limit(declared) is not None
        return not declared.nullable or limited or self._descends(declared)


def _limit(declared: LogicalType) -> int | None:
    """The length that texts or bytes must keep to."""
    return None if declared.length == STRING_LENGTH else declared.length


def _inner(declared: LogicalType) -> tuple[LogicalType, ...]:
    return declared.field_types if declared.root in _ROWS else declared.children


def _parts(column: Column, declared: LogicalType) -> list[tuple[Column, str, LogicalType]]:
    """What a value consists of: fields of a row, else arrays of elements, keys and values; with names and types."""

    if declared.root in _ROWS:
        return [(column.getField(field_name(i)), f.name, f.type) for i, f in enumerate(declared.fields)]
    if declared.root == "ARRAY":
        return [(column, "element", declared.element)]
    names = ("key", "value")
    arrays = (F.map_keys(column), F.map_values(column))
    types = (*declared.children, INT)  # a multiset counts its elements
    return list(zip(arrays, names, types, strict=False))


def _all(conditions: Iterable[Column]) -> Column:

    return reduce(lambda a, b: a & b, conditions, F.lit(True))


def _null_message(name: str) -> str:
    return (
        f"Column '{name}' is NOT NULL, however, a null value is being written into it. "
        f"You can set job configuration '{NOT_NULL}'='DROP' to suppress this exception and drop such records silently."
    )


def _fitted(column: Column, name: str, declared: LogicalType, strict: bool) -> Column:
    """A text or bytes cut, and where the length is fixed filled up, to the declared length."""

    limit = _limit(declared)
    if limit is None:
        return column
    fixed = declared.root in _FIXED
    textual = declared.root in ("CHAR", "VARCHAR")
    size = F.char_length(column) if textual else F.octet_length(column)
    wrong = size != limit if fixed else size > limit
    if strict:
        message = (
            f"Column '{name}' is {declared.root}({limit}), however, a value of another length is being "
            f"written into it. You can set job configuration '{LENGTH}'='TRIM_PAD' to trim and pad."
        )
        return F.when(wrong, F.raise_error(F.lit(message))).otherwise(column)
    cut = F.substring(column, 1, limit)
    padding = F.lit(" ") if textual else F.lit(b"\0")
    return F.when(wrong, F.rpad(cut, limit, padding) if fixed else cut).otherwise(column)

"""Row types of relations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...plan.types import LogicalType, row, timestamp

WINDOW_BOUND = timestamp(3, nullable=False)
"""The type of a window's start and end."""


def row_of(names: Iterable[str], types: Iterable[LogicalType]) -> LogicalType:
    """The row type of columns with these names and types."""
    return row(zip(names, types, strict=True))


def pick(source: LogicalType, indexes: Iterable[int]) -> LogicalType:
    """The row type of some columns."""
    fields = [source.fields[i] for i in indexes]
    return row_of((f.name for f in fields), (f.type for f in fields))


def nullable_types(rows: Sequence[Sequence[LogicalType]]) -> tuple[LogicalType, ...]:
    """The types of the first row, nullable where the type in any row is."""
    return tuple([ts[0].with_nullability(any([t.nullable for t in ts])) for ts in zip(*rows, strict=True)])

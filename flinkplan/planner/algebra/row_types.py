"""Row types of relations."""

from __future__ import annotations

from collections.abc import Iterable

from ...plan.types import LogicalType, row


def row_of(names: Iterable[str], types: Iterable[LogicalType]) -> LogicalType:
    """A row type as relations have it."""
    return row(zip(names, types, strict=True))


def pick(source: LogicalType, indexes: Iterable[int]) -> LogicalType:
    """The row type of some columns."""
    fields = [source.fields[i] for i in indexes]
    return row_of((f.name for f in fields), (f.type for f in fields))

"""Row types of relations."""

from __future__ import annotations

from collections.abc import Iterable

from ...plan.types import LogicalType, row


def row_of(names: Iterable[str], types: Iterable[LogicalType]) -> LogicalType:
    """A row type as relations have it."""
    return row(zip(names, types, strict=True))


def unique_names(names: Iterable[str], sep: str = "") -> tuple[str, ...]:
    """Append to each repeated name the smallest number that makes it unique, as Calcite does."""
    used: set[str] = set()
    found = []
    for name in names:
        candidate, number = name, 0
        while candidate in used:
            candidate = f"{name}{sep}{number}"
            number += 1
        used.add(candidate)
        found.append(candidate)
    return tuple(found)


def pick(source: LogicalType, indexes: Iterable[int]) -> LogicalType:
    """The row type of some columns."""
    fields = [source.fields[i] for i in indexes]
    return row_of((f.name for f in fields), (f.type for f in fields))


def concat(left: LogicalType, right: LogicalType) -> LogicalType:
    """The row type of a join: repeated names get a number."""
    names = unique_names([*left.field_names, *right.field_names])
    return row_of(names, (*left.field_types, *right.field_types))

"""The rows of a result."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any


class RowKind(Enum):
    """What a row says of the result so far."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    def __str__(self) -> str:
        return ("+I", "-U", "+U", "-D")[self.value]


class Row(tuple[Any, ...]):
    """The values of a row, and its kind."""

    _kind: RowKind

    def __new__(cls, values: Iterable[Any], kind: RowKind = RowKind.INSERT) -> Row:
        row = super().__new__(cls, values)
        row._kind = kind
        return row

    def get_row_kind(self) -> RowKind:
        """The kind: an insert, an update's old or new row, or a deletion."""
        return self._kind

    def __repr__(self) -> str:
        return f"{self._kind}[{', '.join(map(repr, self))}]"

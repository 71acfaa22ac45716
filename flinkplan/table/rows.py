"""The rows of a result."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from enum import Enum
from types import TracebackType
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


class RowIterator(AbstractContextManager["RowIterator"], Iterator[Row]):
    """Rows one by one; leaving its ``with`` closes it."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Give up what the rows come from."""


class KeptRows(RowIterator):
    """Rows that are there."""

    def __init__(self, rows: Iterable[tuple[Any, ...]]) -> None:
        self._rows = map(Row, rows)

    def __next__(self) -> Row:
        return next(self._rows)

    def close(self) -> None:
        self._rows = map(Row, ())

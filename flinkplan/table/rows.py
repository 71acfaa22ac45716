"""The rows of a result."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import starmap
from types import TracebackType
from typing import Any

from ..windowing.rows import Row, RowKind

__all__ = ["KeptRows", "Row", "RowIterator", "RowKind"]


class RowIterator(AbstractContextManager["RowIterator"], Iterator[Row]):
    """An iterator over rows; the end of its ``with`` block closes it."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def next(self) -> Row:
        """The next row, as ``next(rows)``."""
        return next(self)

    @abstractmethod
    def close(self) -> None:
        """Release the source of the rows."""


class KeptRows(RowIterator):
    """An iterator over rows in memory."""

    def __init__(self, rows: Iterable[tuple[Any, ...]]) -> None:
        self._rows = starmap(Row, rows)

    def __next__(self) -> Row:
        return next(self._rows)

    def close(self) -> None:
        self._rows = starmap(Row, ())

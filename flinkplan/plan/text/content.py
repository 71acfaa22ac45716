"""The rows that result from a stream of changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

from ...windowing.rows import Row, RowKind

_RETRACTIONS = (RowKind.UPDATE_BEFORE, RowKind.DELETE)


class Content:
    """The current rows after the changes so far, in the order of their arrival.

    A retraction removes the newest equal row.  With more than ``max_rows`` rows the oldest ones are dropped.
    Source: Flink's ``MaterializedCollectStreamResult``.
    """

    def __init__(self, max_rows: int | None = None) -> None:
        self._rows: dict[int, Row] = {}
        self._places: dict[str, list[int]] = defaultdict(list)
        self._max_rows = max_rows
        self._next = 0

    def change(self, row: Row) -> None:
        """Add or remove a row, according to its kind."""
        places = self._places[repr(tuple(row))]
        if row.get_row_kind() not in _RETRACTIONS:
            places.append(self._next)
            self._rows[self._next] = row
            self._next += 1
            if self._max_rows is not None and len(self._rows) > self._max_rows:
                del self._rows[next(iter(self._rows))]
            return
        while places:
            if self._rows.pop(places.pop(), None) is not None:
                return

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows.values())

    def newest(self, count: int) -> list[Row]:
        """The last ``count`` rows, the newest last."""
        return [*islice(reversed(self._rows.values()), count)][::-1]

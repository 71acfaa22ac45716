"""What a stream of changes leaves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

from .rows import Row, RowKind

_RETRACTIONS = (RowKind.UPDATE_BEFORE, RowKind.DELETE)


class Content:
    """The rows that are there after the changes so far, in the order in which they came.

    A change takes back the newest equal row.  ``most``: how many rows are kept; the oldest go first.
    Source: Flink's ``MaterializedCollectStreamResult``.
    """

    def __init__(self, most: int | None = None) -> None:
        self._rows: dict[int, Row] = {}
        self._places: dict[str, list[int]] = defaultdict(list)
        self._most = most
        self._next = 0

    def change(self, row: Row) -> None:
        """Take a row in, or back, as its kind says."""
        places = self._places[repr(tuple(row))]
        if row.get_row_kind() not in _RETRACTIONS:
            places.append(self._next)
            self._rows[self._next] = row
            self._next += 1
            if self._most is not None and len(self._rows) > self._most:
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

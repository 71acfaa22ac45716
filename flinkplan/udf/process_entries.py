"""The entries of lists and maps as they are kept for keys: columns, of which Python reads what it is asked for.

A map of a hundred thousand entries becomes a dict in 20 ms, and rows in 200: so no entry is made a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..plan.types import LogicalType
from .values import reader, writer

if TYPE_CHECKING:
    import pyarrow as pa

Entries = Sequence[Sequence[Any]]
"""The entries of a key: a sequence for each of their columns."""


class StoredEntries:
    """The entries of a state for the keys of a batch, each key at its place.  ``types`` are those of their columns."""

    def __init__(self, column: pa.Array, types: Sequence[LogicalType], zone: str) -> None:
        (lists,) = column.flatten()
        self._lists = lists
        self._kept = column.is_valid().to_pylist()
        self._offsets = lists.offsets.to_pylist()
        self._types = types
        self._zone = zone
        self._columns: Entries | None = None

    def __getitem__(self, place: int) -> Callable[[], Entries] | None:
        """What reads the entries of the key at a place; ``None``: there are none."""
        if not self._kept[place]:
            return None
        start, end = self._offsets[place], self._offsets[place + 1]
        return lambda: [column[start:end] for column in self._read()]

    def _read(self) -> Entries:
        if self._columns is None:
            columns = zip(self._lists.values.flatten(), self._types, strict=True)
            self._columns = [reader(t, self._zone)(column) for column, t in columns]
        return self._columns


def entries_array(kept: Sequence[Entries | None], types: Sequence[LogicalType]) -> pa.Array:
    """The column with the entries of keys.  Raises :class:`ResultError` for a value that does not fit its type."""
    import pyarrow as pa

    offsets = [0]
    columns: list[list[Any]] = [[] for _ in types]
    for entries in kept:
        for column, values in zip(columns, entries or [()] * len(types), strict=True):
            column.extend(values)
        offsets.append(len(columns[0]))
    arrays = [writer(t)(column) for t, column in zip(types, columns, strict=True)]
    values = pa.StructArray.from_arrays(arrays, [f"f{i}" for i in range(len(arrays))])
    lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)
    return pa.StructArray.from_arrays([lists], ["f0"], mask=pa.array([entries is None for entries in kept], pa.bool_()))

"""Changes of rows that a table's log does not have as such, as temporary files that a source reads."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from ..scratch import temporary_folder
from .log import KIND
from .positions import StoredFile

_INSERT, _DELETE = 0, 3


class ChangeFiles:
    """Writes temporary files with the kind of each row in the column :data:`KIND`."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._numbers = count()

    def write(self, rows: Any, partition: Mapping[str, str | None]) -> StoredFile:
        """A file of a table in Arrow, which is not empty."""
        from pyarrow.parquet import write_table

        self._folder = self._folder or temporary_folder("lake-")
        path = self._folder / f"{next(self._numbers)}.parquet"
        write_table(rows, path)
        return StoredFile(f"file://{path}", path.stat().st_size, partition)

    def remove(self) -> None:
        """Remove the files that there are."""
        for path in self._folder.glob("*.parquet") if self._folder is not None else ():
            path.unlink()


def changes_between(before: Any, after: Any) -> Any:
    """What takes the rows of one table in Arrow into those of another: deletions, then insertions.

    Rows that are in both as often are no changes.  Both have the same columns; the result has :data:`KIND` behind them.
    """
    import numpy as np
    import pyarrow as pa

    rows = pa.concat_tables([before, after])
    keys = {f"key {i}": _comparable(rows.column(i)) for i in range(rows.num_columns)}
    sides = np.concatenate([np.full(before.num_rows, -1), np.full(after.num_rows, 1)])
    numbered = pa.table({**keys, "side": sides, "row": np.arange(rows.num_rows)})
    groups = numbered.group_by(list(keys), use_threads=False).aggregate([("side", "sum"), ("row", "min")])
    net, first = groups["side_sum"].to_numpy(), groups["row_min"].to_numpy()
    deleted = np.repeat(first, np.maximum(-net, 0))
    inserted = np.repeat(first, np.maximum(net, 0))
    kinds = np.concatenate([np.full(len(deleted), _DELETE), np.full(len(inserted), _INSERT)]).astype(np.int8)
    return rows.take(np.concatenate([deleted, inserted])).append_column(KIND, pa.array(kinds))


def _comparable(column: Any) -> Any:
    """A column by whose values rows can be grouped: for values that have parts, their texts."""
    import pyarrow as pa

    if not pa.types.is_nested(column.type):
        return column
    return pa.array([None if value is None else repr(value) for value in column.to_pylist()], pa.string())

"""The snapshots of an Iceberg table, one after the other.

Sources: ``ContinuousSplitPlannerImpl`` and ``FlinkReadOptions`` of Apache Iceberg.
"""

from __future__ import annotations

from typing import Any

from ...plan.connectors.iceberg import (
    BEHIND_LATEST,
    BRANCH,
    FROM_EARLIEST,
    FROM_LATEST,
    FROM_SNAPSHOT,
    INTERVAL,
    MOST_SNAPSHOTS,
    START_SNAPSHOT,
    START_TIME,
    STRATEGY,
    WHOLE_FIRST,
    default_of,
)
from ...plan.durations import parse_duration
from ..connectors.tables import Table
from ..errors import TableError
from .iceberg import appended, check_columns, columns_of, files_of, library_errors, lineage, opened_table
from .positions import StoredFile


class IcebergChanges:
    """As :class:`Changes`.  Only what snapshots append counts: those that replace or delete rows are passed over."""

    def __init__(self, table: Table) -> None:
        """Open the table.  Raises :class:`TableError`."""
        self._table, self._where = table, f"table {table.identifier}"
        options = table.options
        self._strategy = options.get(STRATEGY, WHOLE_FIRST).upper()
        self._branch = options.get(BRANCH)
        self._most = int(options.get(MOST_SNAPSHOTS, default_of(MOST_SNAPSHOTS)))
        self.interval = parse_duration(options.get(INTERVAL, default_of(INTERVAL))) / 1000
        self.begins_whole = self._strategy == WHOLE_FIRST
        with library_errors(self._where):
            self._opened = opened_table(table)
            self._check()

    def _check(self) -> None:
        check_columns(self._table, columns_of(self._opened.schema()))

    def _current(self) -> Any:
        self._opened.refresh()
        self._check()
        return self._opened.snapshot_by_name(self._branch) if self._branch else self._opened.current_snapshot()

    def newest(self) -> int | None:
        """As :meth:`Changes.newest`."""
        with library_errors(self._where):
            current = self._current()
        return None if current is None else int(current.snapshot_id)

    def first(self) -> int | None:
        """As :meth:`Changes.first`."""
        options = self._table.options
        with library_errors(self._where):
            current = self._current()
            if self._strategy == FROM_SNAPSHOT:
                if (named := self._opened.snapshot_by_id(int(options[START_SNAPSHOT]))) is None:
                    message = f"the Iceberg table has no snapshot {options[START_SNAPSHOT]}"
                    raise TableError(message, where=self._where)
                return _parent(named)
            if current is None and self._strategy in (FROM_LATEST, BEHIND_LATEST, FROM_EARLIEST):
                return None
            if self._strategy == FROM_LATEST:
                return _parent(current)
            if self._strategy == BEHIND_LATEST:
                return int(current.snapshot_id)
            snapshots = lineage(self._opened, None, current.snapshot_id, self._where) if current else []
            if self._strategy == FROM_EARLIEST:
                return _parent(snapshots[0])
            time = int(options[START_TIME])
            if (later := next((s for s in snapshots if s.timestamp_ms >= time), None)) is None:
                raise TableError(f"the Iceberg table has no snapshot from {time} on", where=self._where)
            return _parent(later)

    def next(self, after: int | None, newest: int) -> int:
        """As :meth:`Changes.next`."""
        snapshots = self._behind(after, newest)
        return int(snapshots[min(self._most, len(snapshots)) - 1].snapshot_id)

    def behind(self, after: int | None, newest: int) -> int:
        """As :meth:`Changes.behind`."""
        return len(self._behind(after, newest))

    def _behind(self, after: int | None, newest: int) -> list[Any]:
        with library_errors(self._where):
            return lineage(self._opened, after, newest, self._where)

    def whole(self, snapshot: int) -> list[StoredFile]:
        """As :meth:`Changes.whole`."""
        with library_errors(self._where):
            return list(files_of(self._opened, snapshot, self._where))

    def added(self, after: int | None, to: int) -> list[StoredFile]:
        """As :meth:`Changes.added`."""
        with library_errors(self._where):
            return list(appended(self._opened, after, to, self._where))


def _parent(snapshot: Any) -> int | None:
    parent = snapshot.parent_snapshot_id
    return None if parent is None else int(parent)

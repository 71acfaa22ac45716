"""The snapshots of an Iceberg table, one after the other.

Sources: ``ContinuousSplitPlannerImpl`` and ``FlinkReadOptions`` of Apache Iceberg.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    reads_changes,
)
from ...plan.durations import parse_duration
from ..connectors.tables import Table
from ..errors import TableError
from .iceberg import appended, check_columns, columns_of, files_of, library_errors, lineage, opened_table, opener
from .iceberg_deletes import data_files, rows_left
from .iceberg_names import ColumnNames
from .positions import StoredFile
from .row_changes import ChangeFiles, changes_between


class IcebergChanges:
    """As :class:`Changes`.  Only what snapshots append counts: those that replace or delete rows are passed over."""

    def __init__(self, table: Table) -> None:
        """Open the table.  Raises :class:`TableError`."""
        self._table, self._where = table, f"table {table.identifier}"
        options = table.options
        self._strategy = options.get(STRATEGY, WHOLE_FIRST).upper()
        self._branch = options.get(BRANCH)
        self._changes = ChangeFiles() if reads_changes(options) else None
        self._most = int(options.get(MOST_SNAPSHOTS, default_of(MOST_SNAPSHOTS)))
        self.interval = parse_duration(options.get(INTERVAL, default_of(INTERVAL))) / 1000
        self.begins_whole = self._strategy == WHOLE_FIRST
        with library_errors(self._where):
            self._opened = opened_table(table)
            self._check()
        self.open_file = opener(self._opened)
        """What opens files of the table by their URIs."""

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
            if self._changes is not None:
                return list(self._changed(after, to, self._changes))
            return list(appended(self._opened, after, to, self._where))

    def forget(self) -> None:
        """As :meth:`Changes.forget`."""
        if self._changes is not None:
            self._changes.remove()

    def _changed(self, after: int | None, to: int, written: ChangeFiles) -> Iterator[StoredFile]:
        """The files that snapshots only append, and for others files with the changes between the rows of two."""
        from pyiceberg.table.snapshots import Operation

        for snapshot in lineage(self._opened, after, to, self._where):
            parent = _parent(snapshot)
            if snapshot.summary is not None and snapshot.summary.operation == Operation.APPEND:
                yield from appended(self._opened, parent, snapshot.snapshot_id, self._where)
                continue
            before, current = self._live(parent), self._live(snapshot.snapshot_id)
            gone = [file for key, file in before.items() if key not in current]
            come = [file for key, file in current.items() if key not in before]
            rows = changes_between(self._rows(gone), self._rows(come))
            if rows.num_rows:
                yield written.write(rows, {})

    def _live(self, id_: int | None) -> Mapping[Any, tuple[Any, Sequence[Any]]]:
        """The data files of a snapshot with what deletes rows of each, by the paths of all of them."""
        snapshot = None if id_ is None else self._opened.snapshot_by_id(id_)
        if snapshot is None:
            return {}
        files = data_files(self._opened, snapshot, self._where)
        return {(f.file_path, frozenset(d.file_path for d in deletes)): (f, deletes) for f, deletes in files}

    def _rows(self, files: Sequence[tuple[Any, Sequence[Any]]]) -> Any:
        """The rows of data files, with the columns that the table has now."""
        import pyarrow as pa

        schema = self._opened.schema()
        if files and ColumnNames(self._opened, schema, self._where).may_differ:
            message = "changes of Iceberg tables whose columns were renamed are not read here"
            raise TableError(message, where=self._where)
        types = schema.as_arrow()
        parts = [types.empty_table()]
        for file, deletes in files:
            rows = rows_left(self._opened, file, deletes, self._where)
            has = set(rows.column_names)
            columns = [rows[f.name].cast(f.type) if f.name in has else pa.nulls(rows.num_rows, f.type) for f in types]
            parts.append(pa.table(columns, schema=types))
        return pa.concat_tables(parts).replace_schema_metadata(None)


def _parent(snapshot: Any) -> int | None:
    parent = snapshot.parent_snapshot_id
    return None if parent is None else int(parent)

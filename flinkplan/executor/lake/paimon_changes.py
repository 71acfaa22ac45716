"""The snapshots of a Paimon table: the files of one, and what each has changed.

Parquet files are read as they are where a file has exactly the rows of the table; what is left of others, merged by
their primary keys, is written into temporary files on the driver.

Sources: ``CoreOptions.startupMode``, the starting scanners and the follow-up scanners of Apache Paimon.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from ...plan.connectors.paimon import (
    BETWEEN,
    CHANGELOG_PRODUCER,
    FROM_SNAPSHOT,
    FROM_TIME,
    FULL,
    FULL_FROM_SNAPSHOT,
    INCREMENTAL,
    INTERVAL,
    LATEST,
    NO_CHANGELOG,
    PATH,
    SNAPSHOT,
    SNAPSHOT_NAMES,
    TIME,
    TIME_MILLIS,
    default_of,
    start_of,
)
from ...plan.durations import parse_duration
from ..connectors.tables import Table
from ..errors import TableError
from ..scratch import temporary_folder
from .directories import root_of
from .log import KIND
from .paimon import check_columns, library_errors, opened_table
from .positions import StoredFile

_KINDS = ("+I", "-U", "+U", "-D")


def snapshot_files(table: Table) -> list[StoredFile]:
    """The files of what a batch reads by the options of a table.  Raises :class:`TableError` where there is nothing."""
    where, options = f"table {table.identifier}", table.options
    with library_errors(where):
        opened = opened_table(root_of(table, PATH), where)
        check_columns(table, opened)
        if start_of(options) == INCREMENTAL:
            if table.primary_key:
                message = f"'{BETWEEN}' reads tables without a primary key here"
                raise TableError(message, where=where, hint="read the changes as a stream, from 'scan.snapshot-id' on")
            first, last = _between(opened, options[BETWEEN], where)
            return list(_Files(opened).added(first, last, where))
        return list(_Files(opened).whole(_chosen(opened, table, where)))


def _chosen(opened: Any, table: Table, where: str) -> Any:
    """The snapshot that a batch reads; ``None``: the table has none."""
    from pypaimon.snapshot.time_travel_util import TimeTravelUtil

    options = dict(table.options)
    manager = opened.snapshot_manager()
    if start_of(options) in (FULL, LATEST):
        return manager.get_latest_snapshot()
    if start_of(options) == FROM_TIME:
        options = {TIME_MILLIS: str(_millis(options, where))}
    named = {key: options[key] for key in SNAPSHOT_NAMES if key in options}
    try:
        return TimeTravelUtil.resolve_snapshot(opened.copy(named))
    except ValueError as e:
        raise TableError(f"the Paimon table: {e}", where=where) from None


def _between(opened: Any, text: str, where: str) -> tuple[int, int]:
    """The ids of the two snapshots that an option names, perhaps by their tags."""
    ids = []
    for name in (part.strip() for part in text.split(",")):
        tag = opened.tag_manager().get(name)
        if tag is None and not name.isdecimal():
            raise TableError(f"'{BETWEEN}' = '{text}': the Paimon table has no tag '{name}'", where=where)
        ids.append(int(name) if tag is None else int(tag.trim_to_snapshot().id))
    if len(ids) != 2 or ids[0] > ids[1]:
        raise TableError(f"'{BETWEEN}' = '{text}' does not name two snapshots, the earlier one first", where=where)
    return ids[0], ids[1]


def _millis(options: Any, where: str) -> int:
    """The time that an option names, in milliseconds since 1970; a text is in the time zone of this machine."""
    if TIME_MILLIS in options:
        return int(options[TIME_MILLIS])
    try:
        return int(datetime.fromisoformat(options[TIME]).timestamp() * 1000)
    except ValueError:
        message = f"'{TIME}' = '{options[TIME]}' is no time"
        raise TableError(message, where=where, hint="write it as 2024-05-01 12:00:00") from None


class PaimonChanges:
    """As :class:`Changes`: snapshots are counted from 1 on, and before the first one is 0."""

    def __init__(self, table: Table) -> None:
        """Open the table.  Raises :class:`TableError`, also where only a batch reads what the options say."""
        self._table, self._where = table, f"table {table.identifier}"
        self._root, self._start = root_of(table, PATH), start_of(table.options)
        if self._start == FULL_FROM_SNAPSHOT:
            hint = f"a batch does; a stream begins with '{FULL}' or '{FROM_SNAPSHOT}'"
            raise TableError(f"a stream does not begin with '{FULL_FROM_SNAPSHOT}' here", where=self._where, hint=hint)
        self.interval = parse_duration(table.options.get(INTERVAL, default_of(INTERVAL))) / 1000
        self.begins_whole = self._start == FULL
        with library_errors(self._where):
            self._open()

    def _open(self) -> Any:
        opened = opened_table(self._root, self._where)
        check_columns(self._table, opened)
        declared = self._table.options.get(CHANGELOG_PRODUCER, NO_CHANGELOG)
        existing = opened.table_schema.options.get(CHANGELOG_PRODUCER, NO_CHANGELOG)
        if self._table.primary_key and declared != existing:
            raise TableError(
                f"the Paimon table has '{CHANGELOG_PRODUCER}' = '{existing}', and not '{declared}'",
                where=self._where,
                hint="declare the same: which changes a stream has follows from it",
            )
        return opened

    def newest(self) -> int | None:
        """As :meth:`Changes.newest`."""
        with library_errors(self._where):
            latest = self._open().snapshot_manager().get_latest_snapshot()
        return None if latest is None else int(latest.id)

    def first(self) -> int:
        """As :meth:`Changes.first`."""
        options = self._table.options
        with library_errors(self._where):
            manager = self._open().snapshot_manager()
            latest = manager.get_latest_snapshot()
            if self._start == FROM_SNAPSHOT:
                return int(options[SNAPSHOT]) - 1
            if latest is None or self._start == LATEST:
                return 0 if latest is None else int(latest.id)
            earlier = manager.earlier_or_equal_time_mills(_millis(options, self._where) - 1)
            if earlier is not None:
                return int(earlier.id)
            return int(manager.try_get_earliest_snapshot().id) - 1

    def next(self, after: int | None, newest: int) -> int:
        """As :meth:`Changes.next`: batches read all that is there."""
        if after is not None and newest < after:
            raise TableError(
                f"the newest snapshot of the Paimon table is {newest}, and {after} has been read: the table was rolled "
                "back, or is another one",
                where=self._where,
                hint="start with a new checkpoint, which reads the table anew",
            )
        return newest

    def behind(self, after: int | None, newest: int) -> int:
        """As :meth:`Changes.behind`."""
        return max(newest - (after or 0), 0)

    def whole(self, snapshot: int) -> list[StoredFile]:
        """As :meth:`Changes.whole`."""
        with library_errors(self._where):
            opened = self._open()
            return list(_Files(opened).whole(_snapshot(opened, snapshot, self._where)))

    def added(self, after: int | None, to: int) -> list[StoredFile]:
        """As :meth:`Changes.added`; files of tables with a primary key have the column :data:`KIND`."""
        with library_errors(self._where):
            return list(_Files(self._open()).added(after or 0, to, self._where))

    def forget(self) -> None:
        """As :meth:`Changes.forget`: there are none."""


def _snapshot(opened: Any, id_: int, where: str) -> Any:
    snapshot = opened.snapshot_manager().get_snapshot_by_id(id_)
    if snapshot is None:
        raise TableError(
            f"the snapshot {id_} of the Paimon table has expired, so that what it changed is not known",
            where=where,
            hint="start with a new checkpoint, which reads the table anew",
        )
    return snapshot


class _Files:
    """The files with rows of a table, of which some are made when they are asked for."""

    def __init__(self, opened: Any) -> None:
        self._opened = opened
        self._folder: Path | None = None
        self._numbers = count()

    def whole(self, snapshot: Any) -> Iterator[StoredFile]:
        """Those of all rows of a snapshot."""
        if snapshot is None:
            return
        pinned = self._opened.copy({SNAPSHOT: str(snapshot.id)})
        builder = pinned.new_read_builder()
        yield from self._files(builder.new_read(), builder.new_scan().plan().splits())

    def added(self, after: int, to: int, where: str) -> Iterator[StoredFile]:
        """Those of what the snapshots behind one and up to another have changed, in their order."""
        builder = self._opened.new_stream_read_builder().with_include_row_kind(self._opened.is_primary_key_table)
        scan, read = builder.new_streaming_scan(), builder.new_read()
        produces = scan.table.options.changelog_producer().value != NO_CHANGELOG
        for number in range(after + 1, to + 1):
            snapshot = _snapshot(self._opened, number, where)
            if produces and snapshot.changelog_manifest_list and snapshot.commit_kind != "OVERWRITE":
                splits = scan._create_changelog_plan(snapshot).splits()
            elif not produces and snapshot.commit_kind == "APPEND":
                splits = scan._create_delta_plan(snapshot).splits()
            else:
                continue
            yield from self._files(read, splits)

    def _files(self, read: Any, splits: Sequence[Any]) -> Iterator[StoredFile]:
        current = self._opened.table_schema.id
        rest = []
        for split in splits:
            deleted = any(split.data_deletion_files or ())
            is_merged = self._opened.is_primary_key_table and (split.is_streaming or not split.raw_convertible)
            for_spark = all(f.file_name.endswith(".parquet") and f.schema_id == current for f in split.files)
            if is_merged or deleted or not for_spark:
                rest.append(split)
                continue
            for file in split.files:
                yield StoredFile(_url(file.physical_path()), file.file_size, {})
        if rest and (made := self._made(read, rest)) is not None:
            yield made

    def _made(self, read: Any, splits: Sequence[Any]) -> StoredFile | None:
        """A temporary file with the rows of splits; ``None``: there are none."""
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter
        from pypaimon.read.table_read import ROW_KIND_COLUMN

        if self._folder is None:
            self._folder = temporary_folder("lake-")
        path, writer, rows = self._folder / f"{next(self._numbers)}.parquet", None, 0
        for batch in read.to_arrow_batch_reader(splits):
            part = pa.Table.from_batches([batch])
            if ROW_KIND_COLUMN in part.column_names:
                kinds = pa.compute.index_in(part[ROW_KIND_COLUMN], value_set=pa.array(_KINDS)).cast(pa.int8())
                part = part.drop_columns([ROW_KIND_COLUMN]).append_column(KIND, kinds)
            writer = writer or ParquetWriter(path, part.schema)
            writer.write_table(part)
            rows += part.num_rows
        if writer is not None:
            writer.close()
        return StoredFile(f"file://{path}", path.stat().st_size, {}) if rows else None


def _url(path: str) -> str:
    return path if path.startswith("file:") else f"file://{path}"

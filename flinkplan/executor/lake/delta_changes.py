"""The versions of a Delta table, one after the other.

Sources: the connector for Flink (``ActionProcessor``, ``TableMonitor``, ``ContinuousSourceSnapshotSupplier``), and the
transaction protocol of Delta Lake.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...plan.connectors.delta import (
    CHANGE_FEED,
    CHECK_INTERVAL,
    IGNORE_CHANGES,
    IGNORE_DELETES,
    LATEST,
    PATH,
    STARTING_TIME,
    STARTING_VERSION,
    default_of,
    reads_changes,
)
from ...plan.files import Place
from ...plan.options import is_true
from ..connectors.tables import Table
from ..errors import TableError
from .delta import (
    check_columns,
    check_features,
    file_path,
    library_errors,
    library_of,
    opener,
    snapshot_of,
    text_of,
    time_of,
    types_of,
)
from .directories import directory_of
from .log import KIND
from .positions import StoredFile
from .row_changes import ChangeFiles

_FEED, _KIND, _VERSION = "delta.enableChangeDataFeed", "_change_type", "_commit_version"
"""The property of tables with a change data feed, and the columns of the feed that are read."""

_KINDS = ("insert", "update_preimage", "update_postimage", "delete")
"""The kinds of changes in the feed, in the order of their numbers."""


class DeltaChanges:
    """As :class:`Changes`: versions are counted from 0 on, and before the first one is -1."""

    def __init__(self, table: Table, schema: str) -> None:
        """Open the table; ``schema`` is Delta's JSON of the declared columns.  Raises :class:`TableError`."""
        options = table.options
        self._root, self._where, self._schema = directory_of(table, PATH), f"table {table.identifier}", schema
        self._starting_version, self._starting_time = options.get(STARTING_VERSION), options.get(STARTING_TIME)
        self._ignores_changes = is_true(options.get(IGNORE_CHANGES))
        self._ignores_deletes = self._ignores_changes or is_true(options.get(IGNORE_DELETES))
        self._changes = ChangeFiles() if reads_changes(options) else None
        self.interval = int(options.get(CHECK_INTERVAL, default_of(CHECK_INTERVAL))) / 1000
        self.begins_whole = self._starting_version is None and self._starting_time is None
        with library_errors(self._where):
            self._opened = library_of(self._where).DeltaTable(str(self._root))
            now = snapshot_of(self._opened, self._root, self._where)
        check_columns(now.schema, schema, self._where)
        self.partitions = now.partitions

    def first(self) -> int:
        """As :meth:`Changes.first`."""
        if self._starting_version is None:
            return self._at_or_after(self._starting_time or "") - 1
        newest = self.newest()
        if self._starting_version.lower() == LATEST:
            return newest - 1
        if (version := int(self._starting_version)) > newest:
            raise TableError(
                f"'{STARTING_VERSION}' = '{version}': the newest version of the Delta table is {newest}",
                where=self._where,
            )
        return version - 1

    def _at_or_after(self, text: str) -> int:
        """The first version that was committed at a time or later."""
        time = time_of(text, self._where).timestamp()
        if self._root.local is None:
            message = f"'{STARTING_TIME}' is known of tables in local directories only, by the times of the log's files"
            raise TableError(message, where=self._where, hint=f"name a version: '{STARTING_VERSION}'")
        for path in sorted((self._root.local / "_delta_log").glob("*.json")):
            if path.stem.isdigit() and path.stat().st_mtime >= time:
                return int(path.stem)
        raise TableError(f"'{STARTING_TIME}' = '{text}': no version of the Delta table is as young", where=self._where)

    def newest(self) -> int:
        """As :meth:`Changes.newest`."""
        with library_errors(self._where):
            self._opened.update_incremental()
            return int(self._opened.version())

    def next(self, after: int | None, newest: int) -> int:
        """As :meth:`Changes.next`: batches read all that is there."""
        if after is not None and newest < after:
            raise TableError(
                f"the newest version of the Delta table is {newest}, and version {after} has been read: it is another "
                "table",
                where=self._where,
                hint="start with a new checkpoint",
            )
        return newest

    def behind(self, after: int | None, newest: int) -> int:
        """As :meth:`Changes.behind`."""
        return max(newest - (-1 if after is None else after), 0)

    def whole(self, snapshot: int) -> list[StoredFile]:
        """As :meth:`Changes.whole`."""
        with library_errors(self._where):
            opened = library_of(self._where).DeltaTable(str(self._root), version=snapshot)
            read = snapshot_of(opened, self._root, self._where)
        check_columns(read.schema, self._schema, self._where)
        return list(read.files)

    def added(self, after: int | None, to: int) -> list[StoredFile]:
        """As :meth:`Changes.added`."""
        first = 0 if after is None else after + 1
        if self._changes is not None:
            return list(self._changed(first, to, self._changes))
        return [file for version in range(first, to + 1) for file in self._added_by(version)]

    def forget(self) -> None:
        """As :meth:`Changes.forget`."""
        if self._changes is not None:
            self._changes.remove()

    def _changed(self, first: int, last: int, written: ChangeFiles) -> Iterator[StoredFile]:
        """Files with the changes of versions, those of each version and partition for itself."""
        import pyarrow as pa

        for version in range(first, last + 1):
            for action, value in _actions(self._root, version, self._where):
                if action == "metaData":
                    self._check_metadata(value, version)
        with library_errors(self._where):
            opened = library_of(self._where).DeltaTable(str(self._root), version=last)
            if opened.metadata().configuration.get(_FEED) != "true":
                raise TableError(
                    f"the Delta table keeps no changes: '{_FEED}' is not 'true'",
                    where=self._where,
                    hint=f"set it when the table is created, or leave '{CHANGE_FEED}' out",
                )
            feed = pa.RecordBatchReader.from_stream(opened.load_cdf(starting_version=first, ending_version=last))
            rows = _plain(feed.read_all())
        kinds = pa.compute.index_in(rows[_KIND].cast(pa.string()), value_set=pa.array(_KINDS)).cast(pa.int8())
        rows = rows.append_column(KIND, kinds)
        stored = [name for name in types_of(self._schema) if name not in self.partitions]
        # what is taken back comes first: a row that has moved to another partition is in both
        is_added = pa.compute.is_in(kinds, value_set=pa.array([0, 2], pa.int8()))
        for version in range(first, last + 1):
            of_version = pa.compute.equal(rows[_VERSION], version)
            for chosen in (pa.compute.invert(is_added), is_added):
                part = rows.filter(pa.compute.and_(of_version, chosen))
                for partition, members in _by_partition(part, self.partitions):
                    yield written.write(members.select([*stored, KIND]), partition)

    def _added_by(self, version: int) -> list[StoredFile]:
        """The files that a version has added.  Raises :class:`TableError` where it has removed rows or columns."""
        files, removes = [], False
        for action, value in _actions(self._root, version, self._where):
            match action:
                case "add" if value.get("dataChange", True):
                    if value.get("deletionVector"):
                        message = f"version {version} of the Delta table deletes rows by deletion vectors"
                        hint = "a stream does not read them; start with a new checkpoint, which reads the table anew"
                        raise TableError(message, where=self._where, hint=hint)
                    partition = {key: text or None for key, text in (value.get("partitionValues") or {}).items()}
                    files.append(StoredFile(file_path(value["path"], self._root), value["size"], partition))
                case "remove":
                    removes = removes or value.get("dataChange", True)
                case "metaData":
                    self._check_metadata(value, version)
                case "protocol":
                    check_features(value.get("readerFeatures"), {}, self._where)
        if removes and not (self._ignores_changes if files else self._ignores_deletes):
            does, option = ("changes", IGNORE_CHANGES) if files else ("deletes", IGNORE_DELETES)
            raise TableError(
                f"version {version} of the Delta table {does} rows, and a stream has inserted them already",
                where=self._where,
                hint=f"with '{option}' = 'true' the stream goes on over such versions"
                + (", and rows in files that were written anew come again" if files else ""),
            )
        return files

    def _check_metadata(self, metadata: Mapping[str, Any], version: int) -> None:
        check_features(None, metadata.get("configuration") or {}, self._where)
        check_columns(metadata["schemaString"], self._schema, self._where)
        if tuple(metadata.get("partitionColumns") or ()) != self.partitions:
            raise TableError(f"version {version} partitions the Delta table otherwise", where=self._where)


def _plain(rows: Any) -> Any:
    """Rows without the types of Arrow that Parquet's writers do not all take."""
    import pyarrow as pa

    plain = {"string_view": pa.string(), "binary_view": pa.binary()}
    return rows.cast(pa.schema([field.with_type(plain.get(str(field.type), field.type)) for field in rows.schema]))


def _by_partition(rows: Any, names: Sequence[str]) -> Iterator[tuple[Mapping[str, str | None], Any]]:
    """The rows of each partition, with the texts of its values."""
    import pyarrow as pa

    if not names or not rows.num_rows:
        yield from [({}, rows)] if rows.num_rows else []
        return
    for values in rows.select(names).group_by(list(names)).aggregate([]).to_pylist():
        members = rows
        for name, value in values.items():
            column = members[name]
            same = column.is_null() if value is None else pa.compute.equal(column, pa.scalar(value, column.type))
            members = members.filter(same)
        yield {name: text_of(value) for name, value in values.items()}, members


def _actions(root: Place, version: int, where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The actions of a version by name."""
    path = root / "_delta_log" / f"{version:020}.json"
    try:
        if path.local is not None:
            text = path.local.read_text("utf-8")
        else:
            with opener(root)(path.name) as file:
                text = file.read().decode()
    except FileNotFoundError:
        raise TableError(
            f"version {version} is no longer in the log of the Delta table, so that what it changed is not known",
            where=where,
            hint="start with a new checkpoint, which reads the table anew",
        ) from None
    for line in filter(None, text.splitlines()):
        yield from json.loads(line).items()

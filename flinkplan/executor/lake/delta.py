"""Tables of Delta Lake, by the library ``deltalake``.

Source: the transaction protocol of Delta Lake ("Transaction Identifiers"): a commit can name an application and its own
version, by which the application learns what it has committed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, BinaryIO
from urllib.parse import unquote

from ...plan.connectors.delta import PATH, TIME, VERSION
from ...plan.errors import FlinkplanError
from ...plan.files import Place
from ...plan.record import Record
from ..connectors.tables import Table
from ..errors import TableError
from .delta_deletes import FEATURE, without_deleted_rows
from .directories import columns_text, directory_of
from .log import DELETED, DataFile
from .positions import StoredFile

_READ = frozenset({FEATURE, "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"})
"""The features of tables that are read."""


_MAPPING = "delta.columnMapping.mode"


class Snapshot(Record):
    """The data files of a version of a table, Delta's JSON of its columns, and which of these are of partitions."""

    files: tuple[StoredFile, ...]
    schema: str
    partitions: tuple[str, ...]


class DeltaLog:
    """The log of a table that is written; ``schema`` is Delta's (and Spark's) JSON of its columns."""

    def __init__(self, table: Table, schema: str) -> None:
        """Open the table, or create it.  Raises :class:`TableError` where it has other columns or partitions."""
        self._root, self._where = directory_of(table, PATH), f"table {table.identifier}"
        self._schema, self._partitions, self._key = schema, list(table.partition_keys), table.primary_key
        library = library_of(self._where)
        with library_errors(self._where):
            if not library.DeltaTable.is_deltatable(str(self._root)):
                properties = {key: value for key, value in table.options.items() if key.startswith("delta.")}
                library.DeltaTable.create(
                    str(self._root),
                    library.Schema.from_json(schema),
                    mode="ignore",
                    partition_by=self._partitions,
                    configuration=properties,
                    raise_if_key_not_exists=False,
                )
            self._check()

    def _table(self) -> Any:
        return library_of(self._where).DeltaTable(str(self._root))

    def _check(self) -> None:
        table = self._table()
        existing, declared = types_of(table.schema().to_json()), types_of(self._schema)
        if list(existing.items()) != list(declared.items()):
            raise TableError(
                f"the Delta table has the columns {columns_text(existing)}, and not {columns_text(declared)}",
                where=self._where,
                hint="declare those that it has, in their order",
            )
        if (partitions := table.metadata().partition_columns) != self._partitions:
            raise TableError(
                f"the Delta table is partitioned by {', '.join(partitions) or 'nothing'}",
                where=self._where,
                hint="declare PARTITIONED BY as the table has it",
            )

    def holds(self, writer: str, batch: int) -> bool:
        """As :meth:`TableLog.holds`."""
        with library_errors(self._where):
            last = self._table().transaction_version(writer)
        return last is not None and last >= batch

    def commit(self, writer: str, batch: int, files: Sequence[DataFile]) -> None:
        """As :meth:`TableLog.commit`."""
        from deltalake.transaction import AddAction

        library = library_of(self._where)
        with library_errors(self._where):
            self._check()
            actions = [AddAction(*self._described(file)) for file in files]
            self._table().create_write_transaction(
                actions,
                "append",
                library.Schema.from_json(self._schema),
                self._partitions,
                commit_properties=self._properties(writer, batch),
            )

    def _properties(self, writer: str, batch: int) -> Any:
        """What a commit says of itself, by which it is found again."""
        library = library_of(self._where)
        return library.CommitProperties(
            custom_metadata={"flinkplan.batch": str(batch)}, app_transactions=[library.Transaction(writer, batch)]
        )

    def merge(self, writer: str, batch: int, paths: Sequence[str]) -> None:
        """As :meth:`TableLog.merge`."""
        from pyarrow.dataset import dataset

        changes = dataset(list(paths), format="parquet") if paths else None
        if changes is None or changes.count_rows() == 0:
            return
        with library_errors(self._where):
            self._check()
            names = [name for name in changes.schema.names if name != DELETED]
            values = {_quoted(name): f"s.{_quoted(name)}" for name in names}
            merger = self._table().merge(
                changes.scanner().to_reader(),
                " AND ".join(f"t.{_quoted(name)} = s.{_quoted(name)}" for name in self._key),
                source_alias="s",
                target_alias="t",
                commit_properties=self._properties(writer, batch),
            )
            is_deleted = f"s.{_quoted(DELETED)}"
            merger.when_matched_delete(is_deleted).when_matched_update(values, f"NOT {is_deleted}")
            merger.when_not_matched_insert(values, f"NOT {is_deleted}").execute()

    def append(self, writer: str, batch: int, paths: Sequence[str]) -> None:
        """As :meth:`TableLog.append`, of a table in an object store, whose data files the library writes."""
        from pyarrow.dataset import dataset

        library = library_of(self._where)
        with library_errors(self._where):
            self._check()
            rows = dataset(list(paths), format="parquet")
            if rows.count_rows():
                library.write_deltalake(
                    self._table(),
                    rows.scanner().to_reader(),
                    mode="append",
                    commit_properties=self._properties(writer, batch),
                )

    def overwrite(self, writer: str, batch: int, paths: Sequence[str], partition: Mapping[str, str]) -> None:
        """As :meth:`TableLog.overwrite`."""
        import pyarrow as pa
        from pyarrow.dataset import dataset

        library = library_of(self._where)
        with library_errors(self._where):
            self._check()
            schema = pa.schema(library.Schema.from_json(self._schema).to_arrow())
            rows = dataset(list(paths), format="parquet").to_table() if paths else schema.empty_table()
            parts = rows.select(self._partitions).group_by(self._partitions).aggregate([]).to_pylist()
            if parts or not self._partitions:
                library.write_deltalake(
                    self._table(),
                    rows,
                    mode="overwrite",
                    predicate=" OR ".join(map(self._is_of, parts)) if self._partitions else None,
                    commit_properties=self._properties(writer, batch),
                )

    def _is_of(self, part: Mapping[str, Any]) -> str:
        """The condition that a row is of a partition, as SQL of the library: values are texts that are cast."""
        types = types_of(self._schema)
        return "(" + " AND ".join(_equals(name, part[name], types[name]) for name in self._partitions) + ")"

    def _described(self, file: DataFile) -> tuple[str, int, Mapping[str, str | None], int, bool, str]:
        """Path, bytes, partition, time (ms), whether it changes data, and statistics in JSON."""
        import json

        from pyarrow.parquet import read_metadata

        assert self._root.local is not None, "files are committed that Spark has written"
        path = self._root.local / file.path
        stat = path.stat()
        statistics = json.dumps({"numRecords": read_metadata(path).num_rows})
        return file.path, stat.st_size, file.partition, int(stat.st_mtime * 1000), True, statistics


_SQL_TYPES = {
    "string": "VARCHAR",
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
}
"""The names of Delta's types in the SQL of the library."""


def _equals(name: str, value: Any, type_: str) -> str:
    if value is None:
        return f"{_quoted(name)} IS NULL"
    literal = "'" + (value if isinstance(value, str) else text_of(value) or "").replace("'", "''") + "'"
    sql_type = _SQL_TYPES.get(type_, type_.upper())
    return f"{_quoted(name)} = " + (literal if sql_type == "VARCHAR" else f"CAST({literal} AS {sql_type})")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def snapshot(table: Table) -> Snapshot:
    """The snapshot that the options of a table name.

    Raises :class:`TableError` where there is none, or where its files hold more than its rows.
    """
    where, root = f"table {table.identifier}", directory_of(table, PATH)
    library = library_of(where)
    with library_errors(where):
        version = table.options.get(VERSION)
        opened = library.DeltaTable(str(root), version=None if version is None else int(version))
        if (time := table.options.get(TIME)) is not None:
            opened.load_as_version(time_of(time, where))
        return snapshot_of(opened, root, where)


def snapshot_of(opened: Any, root: Place, where: str) -> Snapshot:
    """The snapshot that the library has opened.  Raises :class:`TableError` where its files hold more than its rows."""
    import pyarrow

    protocol, metadata = opened.protocol(), opened.metadata()
    check_features(protocol.reader_features, metadata.configuration, where)
    files = [
        StoredFile(
            file_path(action["path"], root),
            action["size_bytes"],
            {key: text_of(value) for key, value in (action.get("partition") or {}).items()},
        )
        for action in pyarrow.table(opened.get_add_actions()).to_pylist()
    ]
    if FEATURE in (protocol.reader_features or ()):
        files = without_deleted_rows(opened, files, where)
    return Snapshot(tuple(files), opened.schema().to_json(), tuple(metadata.partition_columns))


def check_features(features: Iterable[str] | None, configuration: Mapping[str, str | None], where: str) -> None:
    """Raise :class:`TableError` where data files hold more than rows, or columns by other names."""
    if unread := sorted({*(features or ())} - _READ):
        raise TableError(f"Delta tables with the feature '{unread[0]}' are not read here", where=where)
    mapping = configuration.get(_MAPPING) or "none"
    if mapping != "none":
        raise TableError(f"Delta tables with '{_MAPPING}' = '{mapping}' are not read here", where=where)


def file_path(path: str, root: Place) -> str:
    """The path of a data file by that in the log, whose characters are encoded as in URLs."""
    text = unquote(path)
    if text.startswith(("/", "file:")) or "://" in text:
        return text
    return f"{'' if root.local is None else 'file://'}{root / text}"


def opener(root: Place) -> Callable[[str], BinaryIO]:
    """What opens files of a table in an object store by their URIs."""

    def open_file(path: str) -> BinaryIO:
        from deltalake.fs import DeltaStorageHandler

        file: BinaryIO = DeltaStorageHandler(str(root)).open_input_stream(path.removeprefix(f"{root}/"))
        return file

    return open_file


def text_of(value: Any) -> str | None:
    """A partition's value as the log has it."""
    match value:
        case None | "" | b"":
            return None
        case bool():
            return str(value).lower()
        case datetime():
            return value.replace(tzinfo=None).isoformat(sep=" ")
        case bytes():
            return value.decode("latin-1")
    return str(value)


def check_columns(existing: str, declared: str, where: str) -> None:
    """Raise :class:`TableError` where a schema does not have a declared column, or has it with another type."""
    types = types_of(existing)
    for name, t in types_of(declared).items():
        if types.get(name) != t:
            message = f"the column '{name}' is declared as {t}, and the Delta table has {types.get(name, 'nothing')}"
            raise TableError(message, where=where)


def types_of(schema: str) -> Mapping[str, str]:
    """The types of columns, without whether values may be NULL."""
    import json

    return {field["name"]: _type(field["type"]) for field in json.loads(schema)["fields"]}


def _type(declared: Any) -> str:
    match declared:
        case {"type": "array"}:
            return f"array<{_type(declared['elementType'])}>"
        case {"type": "map"}:
            return f"map<{_type(declared['keyType'])},{_type(declared['valueType'])}>"
        case {"type": "struct"}:
            return f"struct<{','.join(_type(field['type']) for field in declared['fields'])}>"
    return str(declared)


def time_of(text: str, where: str) -> datetime:
    """A time that an option names, in UTC where it names no zone.  Raises :class:`TableError` where it is none."""
    from datetime import UTC

    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise TableError(f"'{text}' is no time", where=where, hint="write it as 2024-05-01T12:00:00Z") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def library_of(where: str) -> Any:
    """The module ``deltalake``.  Raises :class:`TableError` where there is none."""
    try:
        import deltalake
    except ImportError:
        raise TableError(
            "tables of Delta Lake need deltalake", where=where, hint="pip install 'flinkplan[delta]'"
        ) from None
    return deltalake


@contextmanager
def library_errors(where: str) -> Iterator[None]:
    """What the library raises, as :class:`TableError`."""
    from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError

    try:
        yield
    except FlinkplanError:
        raise
    except TableNotFoundError:
        raise TableError("there is no Delta table in the directory", where=where) from None
    except CommitFailedError as e:
        raise TableError(f"the Delta table has been changed meanwhile: {in_one_line(e)}", where=where) from None
    except (DeltaError, OSError, ValueError) as e:
        raise TableError(f"the Delta table: {in_one_line(e)}", where=where) from None


_REASON = re.compile(r"\s*(?:\x1b\[\d+m)?↳(?:\x1b\[\d+m)?\s*")
"""What the library puts in front of the reason of an error, in a line of its own."""


def in_one_line(error: Exception) -> str:
    """What the library says of an error, and the reasons of it."""
    return _REASON.sub(": ", str(error)).strip()

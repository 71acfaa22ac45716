"""Tables of Apache Iceberg, by the library PyIceberg.

A commit sets a property of the table that names its writer and batch, in the same transaction as it adds files.

Source: the Iceberg specification, and ``Table.add_files`` of PyIceberg.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ...plan.connectors.iceberg import (
    BRANCH,
    CATALOG,
    CREDENTIAL,
    DATABASE,
    END_SNAPSHOT,
    END_TAG,
    PASSWORD,
    SNAPSHOT,
    START_SNAPSHOT,
    START_TAG,
    TABLE,
    TAG,
    TIME,
    TOKEN,
    TYPE,
    URI,
    USER,
    WAREHOUSE,
    starts_or_ends,
)
from ...plan.errors import FlinkplanError
from ...plan.files import Place
from ...plan.record import Record
from ...plan.types import LogicalType
from ...plan.types.readable import readable
from ..connectors.tables import Table
from ..errors import TableError
from .directories import columns_text
from .iceberg_deletes import files_without_deleted_rows, has_deletes
from .iceberg_names import ColumnNames
from .log import DELETED, DataFile
from .positions import StoredFile

_COMMITTED = "flinkplan.committed."
_ATTEMPTS = 5

_TYPES = {
    "BOOLEAN": "boolean",
    "TINYINT": "int",
    "SMALLINT": "int",
    "INT": "int",
    "BIGINT": "long",
    "FLOAT": "float",
    "DOUBLE": "double",
    "CHAR": "string",
    "VARCHAR": "string",
    "BINARY": "binary",
    "VARBINARY": "binary",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMP_LTZ": "timestamptz",
}

_CLASSES = {
    "boolean": "BooleanType",
    "int": "IntegerType",
    "long": "LongType",
    "float": "FloatType",
    "double": "DoubleType",
    "string": "StringType",
    "binary": "BinaryType",
    "date": "DateType",
    "timestamp": "TimestampType",
    "timestamptz": "TimestamptzType",
}
"""PyIceberg's classes of types."""


def type_text(t: LogicalType) -> str:
    """The Iceberg type that holds values of a type, as PyIceberg shows it."""
    if t.root == "DECIMAL":
        return f"decimal({t.precision or 10}, {t.scale or 0})"
    if t.root == "ARRAY":
        return f"list<{type_text(t.element)}>"
    if t.root == "MAP":
        key, value = t.children
        return f"map<{type_text(key)}, {type_text(value)}>"
    return _TYPES[t.root]


class IcebergLog:
    """The snapshots of a table that is written."""

    def __init__(self, table: Table) -> None:
        """Open the table, or create it.  Raises :class:`TableError` where it has other columns or partitions."""
        self._where = f"table {table.identifier}"
        self._declared = {name: type_text(t) for name, t in table.physical}
        self._partitions = list(table.partition_keys)
        self._key = table.primary_key
        with library_errors(self._where):
            from pyiceberg.exceptions import NoSuchTableError

            catalog, name = _catalog(table), _name(table)
            catalog.create_namespace_if_not_exists(name[:-1])
            try:
                self._table = catalog.load_table(name)
            except NoSuchTableError:
                schema = _schema(table)
                self._table = catalog.create_table_if_not_exists(name, schema, partition_spec=_spec(table, schema))
            self._check()

    def _check(self) -> None:
        fields = self._table.schema().fields
        existing = {field.name: str(field.field_type) for field in fields}
        if list(existing.items()) != list(self._declared.items()):
            raise TableError(
                f"the Iceberg table has the columns {columns_text(existing)}, and not {columns_text(self._declared)}",
                where=self._where,
                hint="declare those that it has, in their order",
            )
        if required := [field.name for field in fields if field.required]:
            raise TableError(
                f"the column '{required[0]}' of the Iceberg table is required, and the files that Spark writes say "
                "that values may be NULL",
                where=self._where,
                hint="make it optional",
            )
        spec = [
            (str(f.transform), self._table.schema().find_column_name(f.source_id)) for f in self._table.spec().fields
        ]
        if spec != [("identity", name) for name in self._partitions]:
            shown = ", ".join(f"{transform}({column})" for transform, column in spec)
            raise TableError(
                f"the Iceberg table is partitioned by {shown or 'nothing'}",
                where=self._where,
                hint="declare PARTITIONED BY as the table has it; transforms other than identity are not written here",
            )

    @property
    def data(self) -> Path | None:
        """The directory of the data files; ``None`` where it is not local."""
        local = Place.of(self._table.location()).local
        return None if local is None else local / "data"

    def holds(self, writer: str, batch: int) -> bool:
        """As :meth:`TableLog.holds`."""
        with library_errors(self._where):
            last = self._table.refresh().properties.get(_COMMITTED + writer)
        return last is not None and int(last) >= batch

    def commit(self, writer: str, batch: int, files: Sequence[DataFile]) -> None:
        """As :meth:`TableLog.commit`."""
        data = self.data
        assert data is not None, "files are committed that Spark has written"
        paths = [f"file://{data / file.path}" for file in files]

        def add(transaction: Any, note: Mapping[str, str]) -> None:
            if paths:
                transaction.add_files(paths, snapshot_properties=note)

        with library_errors(self._where):
            self._commit(writer, batch, add)

    def _commit(self, writer: str, batch: int, change: Callable[[Any, Mapping[str, str]], None]) -> None:
        """Have ``change`` change the table in a transaction, anew where another writer was first."""
        from pyiceberg.exceptions import CommitFailedException

        for attempt in range(_ATTEMPTS):
            self._table.refresh()
            self._check()
            try:
                with self._table.transaction() as transaction:
                    change(transaction, {"flinkplan.batch": str(batch)})
                    transaction.set_properties({_COMMITTED + writer: str(batch)})
                return
            except CommitFailedException:
                if attempt == _ATTEMPTS - 1:
                    raise

    def merge(self, writer: str, batch: int, paths: Sequence[str]) -> None:
        """As :meth:`TableLog.merge`: files that have rows of the keys are written anew without these."""
        import warnings

        from pyarrow.compute import field
        from pyarrow.dataset import dataset
        from pyiceberg.table.upsert_util import create_match_filter

        changes = dataset(list(paths), format="parquet").to_table() if paths else None
        if changes is None or changes.num_rows == 0:
            return
        rows = changes.filter(~field(DELETED)).drop_columns([DELETED])

        def replace(transaction: Any, note: Mapping[str, str]) -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that no row has one of the keys
                transaction.delete(keys, snapshot_properties=note)
                if rows.num_rows:
                    transaction.append(rows, snapshot_properties=note)

        with library_errors(self._where):
            keys = create_match_filter(changes, list(self._key))
            self._commit(writer, batch, replace)

    def append(self, writer: str, batch: int, paths: Sequence[str]) -> None:
        """As :meth:`TableLog.append`, of a table in an object store, whose data files the library writes."""
        from pyarrow.dataset import dataset

        rows = dataset(list(paths), format="parquet").to_table() if paths else None

        def add(transaction: Any, note: Mapping[str, str]) -> None:
            if rows is not None and rows.num_rows:
                transaction.append(rows, snapshot_properties=note)

        with library_errors(self._where):
            self._commit(writer, batch, add)

    def overwrite(self, writer: str, batch: int, paths: Sequence[str], partition: Mapping[str, str]) -> None:
        """As :meth:`TableLog.overwrite`, of the partitions that rows are of, as ``ReplacePartitions`` does."""
        import warnings

        from pyarrow.dataset import dataset

        with library_errors(self._where):
            self._table.refresh()
            self._check()
            empty = self._table.schema().as_arrow().empty_table()
            rows = dataset(list(paths), format="parquet").to_table() if paths else empty
            note = {"flinkplan.batch": str(batch)}
            with self._table.transaction() as transaction, warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that nothing was there
                if not self._partitions:
                    transaction.overwrite(rows, snapshot_properties=note)
                elif rows.num_rows:
                    transaction.dynamic_partition_overwrite(rows, snapshot_properties=note)
                transaction.set_properties({_COMMITTED + writer: str(batch)})


class Snapshot(Record):
    """The Parquet files of a snapshot, the types of its columns by their names, and what opens files of the table."""

    files: tuple[StoredFile, ...]
    columns: Mapping[str, str]
    open_file: Callable[[str], BinaryIO]


def snapshot(table: Table) -> Snapshot:
    """The snapshot that the options of a table name, or what others have appended up to it.

    Raises :class:`TableError` where there is none, or where its files are not read here.
    """
    where, options = f"table {table.identifier}", table.options
    with library_errors(where):
        opened = opened_table(table)
        if starts_or_ends(options):
            columns, files = columns_of(opened.schema()), appended_by_options(opened, options, where)
            return Snapshot(tuple(files), columns, opener(opened))
        chosen = _snapshot_id(opened, options, where)
        files = files_of(opened, chosen, where)
        return Snapshot(tuple(files), columns_of(opened.scan(snapshot_id=chosen).projection()), opener(opened))


def files_of(opened: Any, chosen: int | None, where: str) -> Iterator[StoredFile]:
    """The files with the rows of a snapshot, by default of the current one.  Raises :class:`TableError`."""
    snapshot = opened.current_snapshot() if chosen is None else opened.snapshot_by_id(chosen)
    scan = opened.scan(snapshot_id=chosen)
    names = ColumnNames(opened, scan.projection(), where)
    if snapshot is not None and has_deletes(opened, snapshot):
        if names.may_differ:
            message = "Iceberg tables with deleted rows in files of their own and renamed columns are not read here"
            raise TableError(message, where=where)
        yield from files_without_deleted_rows(opened, snapshot, where)
        return
    for task in scan.plan_files():
        yield names.named(_stored(task.file, where))


def _stored(file: Any, where: str) -> StoredFile:
    name = str(getattr(file.file_format, "value", file.file_format))
    if name.upper() != "PARQUET":
        raise TableError(f"files of the format {name} are not read here", where=where)
    return StoredFile(file.file_path, file.file_size_in_bytes, {})


def lineage(opened: Any, after: int | None, to: int, where: str) -> list[Any]:
    """The snapshots behind one and up to another, the oldest one first; ``None``: from the oldest one that is kept on.

    Raises :class:`TableError` where the one does not lead to the other.
    """
    snapshots, following = [], to
    while following is not None and following != after:
        snapshot = opened.snapshot_by_id(following)
        if snapshot is None:
            break
        snapshots.append(snapshot)
        following = snapshot.parent_snapshot_id
    if following != after and after is not None:
        raise TableError(
            f"the snapshot {after} of the Iceberg table does not lead to {to}: it has expired, or was rolled back",
            where=where,
            hint="start with a new checkpoint, which reads the table anew",
        )
    return snapshots[::-1]


def appended(opened: Any, after: int | None, to: int, where: str) -> Iterator[StoredFile]:
    """The files that snapshots have appended, as ``IncrementalAppendScan`` has them: no others count."""
    from pyiceberg.manifest import ManifestContent, ManifestEntryStatus
    from pyiceberg.table.snapshots import Operation

    names = ColumnNames(opened, opened.schema(), where)
    for snapshot in lineage(opened, after, to, where):
        if snapshot.summary is None or snapshot.summary.operation != Operation.APPEND:
            continue
        for manifest in snapshot.manifests(opened.io):
            if manifest.content != ManifestContent.DATA or manifest.added_snapshot_id != snapshot.snapshot_id:
                continue
            for entry in manifest.fetch_manifest_entry(opened.io):
                if entry.status == ManifestEntryStatus.ADDED and entry.snapshot_id == snapshot.snapshot_id:
                    yield names.named(_stored(entry.data_file, where))


def appended_by_options(opened: Any, options: Mapping[str, str], where: str) -> Iterator[StoredFile]:
    """The files that were appended behind the snapshot of the options, and up to another one."""
    after = named_snapshot(opened, options, START_SNAPSHOT, START_TAG, where)
    to = named_snapshot(opened, options, END_SNAPSHOT, END_TAG, where)
    if to is None:
        current = opened.current_snapshot()
        to = current and current.snapshot_id
    return iter(()) if to is None else appended(opened, after, to, where)


def named_snapshot(opened: Any, options: Mapping[str, str], by_id: str, by_tag: str, where: str) -> int | None:
    """The id of the snapshot that one of two options names.  Raises :class:`TableError` where there is none."""
    if by_id in options:
        return int(options[by_id])
    if by_tag not in options:
        return None
    named = opened.snapshot_by_name(options[by_tag])
    if named is None:
        raise TableError(f"the Iceberg table has no snapshot '{options[by_tag]}'", where=where)
    return int(named.snapshot_id)


def columns_of(schema: Any) -> Mapping[str, str]:
    """The types of a schema's columns."""
    return {field.name: str(field.field_type) for field in schema.fields}


def check_columns(table: Table, existing: Mapping[str, str]) -> None:
    """Raise :class:`TableError` where a declared column is not there, or of another type."""
    for name, t in table.physical:
        if existing.get(name) != type_text(t):
            message = f"the column '{name}' is declared as {t}, and the Iceberg table has {existing.get(name, 'none')}"
            raise TableError(readable(message), where=f"table {table.identifier}")


def opener(opened: Any) -> Callable[[str], BinaryIO]:
    """What opens files of a table by their URIs."""

    def open_file(path: str) -> BinaryIO:
        file: BinaryIO = opened.io.new_input(path).open()
        return file

    return open_file


def opened_table(table: Table) -> Any:
    """PyIceberg's table."""
    return _catalog(table).load_table(_name(table))


def _snapshot_id(opened: Any, options: Mapping[str, str], where: str) -> int | None:
    if SNAPSHOT in options:
        return int(options[SNAPSHOT])
    named = options.get(BRANCH) or options.get(TAG)
    if named is None and TIME not in options:
        return None
    snapshot = opened.snapshot_by_name(named) if named else opened.snapshot_as_of_timestamp(int(options[TIME]))
    if snapshot is None:
        raise TableError(f"the Iceberg table has no snapshot '{named or options[TIME]}'", where=where)
    return int(snapshot.snapshot_id)


def _name(table: Table) -> tuple[str, ...]:
    return (*table.option(DATABASE, "default").split("."), table.option(TABLE, table.name))


def _catalog(table: Table) -> Any:
    from pyiceberg.catalog import load_catalog

    return load_catalog(table.option(CATALOG, "default"), **catalog_properties(table.options))


def catalog_properties(options: Mapping[str, str]) -> Mapping[str, str]:
    """What PyIceberg is told of a catalog, by the options of a table."""
    properties = {key: options[key] for key in (WAREHOUSE, CREDENTIAL, TOKEN) if key in options}
    if options.get(TYPE) == "jdbc":
        return {**properties, "type": "sql", "uri": _sql_url(options)}
    return {**properties, "type": "rest", "uri": options[URI]} if URI in options else properties


def _sql_url(options: Mapping[str, str]) -> str:
    """The URL of SQLAlchemy for one of JDBC."""
    from urllib.parse import quote

    url = options[URI].removeprefix("jdbc:")
    if url.startswith("sqlite:"):
        path = url.removeprefix("sqlite:")
        return f"sqlite:///{path.removeprefix('file:')}"
    scheme, _, rest = url.partition("://")
    login = ":".join(quote(options[key], safe="") for key in (USER, PASSWORD) if key in options)
    return f"{scheme}://{login}@{rest}" if login else url


def _schema(table: Table) -> Any:
    from pyiceberg.schema import Schema
    from pyiceberg.types import NestedField

    ids = iter(range(1, 1 << 20))
    fields = [(name, next(ids), t) for name, t in table.physical]
    return Schema(*(NestedField(id_, name, _iceberg_type(t, ids), required=False) for name, id_, t in fields))


def _iceberg_type(t: LogicalType, ids: Iterator[int]) -> Any:
    from pyiceberg import types

    if t.root == "DECIMAL":
        return types.DecimalType(t.precision or 10, t.scale or 0)
    if t.root == "ARRAY":
        return types.ListType(next(ids), _iceberg_type(t.element, ids), element_required=False)
    if t.root == "MAP":
        key, value = t.children
        number, other = next(ids), next(ids)
        return types.MapType(number, _iceberg_type(key, ids), other, _iceberg_type(value, ids), value_required=False)
    return getattr(types, _CLASSES[_TYPES[t.root]])()


def _spec(table: Table, schema: Any) -> Any:
    from pyiceberg.partitioning import PARTITION_FIELD_ID_START, PartitionField, PartitionSpec
    from pyiceberg.transforms import IdentityTransform

    fields = [
        PartitionField(schema.find_field(name).field_id, PARTITION_FIELD_ID_START + i, IdentityTransform(), name)
        for i, name in enumerate(table.partition_keys)
    ]
    return PartitionSpec(*fields)


@contextmanager
def library_errors(where: str) -> Iterator[None]:
    """What the library raises, as :class:`TableError`."""
    try:
        import pyiceberg.exceptions as exceptions
    except ImportError:
        hint = "pip install 'flinkplan[iceberg]'"
        raise TableError("Iceberg tables need PyIceberg", where=where, hint=hint) from None
    try:
        yield
    except FlinkplanError:
        raise
    except exceptions.NoSuchTableError as e:
        raise TableError(f"there is no such Iceberg table: {e}", where=where) from None
    except Exception as e:  # also of SQLAlchemy, of requests and of PyArrow
        raise TableError(f"the Iceberg table: {type(e).__name__}: {e}", where=where) from e

"""Tables of Apache Paimon, by the library pypaimon.

A snapshot names who committed it and by which number, so that a writer knows which of its batches are there.

Source: the specification of Apache Paimon ("Snapshot"), and ``latestSnapshotOfUser`` of its ``SnapshotManager``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...plan.connectors.paimon import CHANGELOG_PRODUCER, INPUT, PATH, is_property
from ...plan.errors import FlinkplanError
from ...plan.types import LogicalType
from ...plan.types.readable import readable
from ..connectors.tables import Table
from ..errors import TableError
from .directories import columns_text, root_of
from .log import DataFile

_NO_LIMIT = 2147483647


class PaimonLog:
    """The snapshots of a table that is written.  pypaimon writes its data files, on the driver."""

    def __init__(self, table: Table) -> None:
        """Open the table, or create it.  Raises :class:`TableError` where it has other columns, keys or partitions."""
        self._declared, self._where = table, f"table {table.identifier}"
        self._root = root_of(table, PATH)
        with library_errors(self._where):
            if existing_table(self._root) is None:
                _create(table, self._root)
            self._check()
        self._committed: dict[str, int] = {}

    def _check(self) -> Any:
        """The table as it is now."""
        table = self._declared
        opened = opened_table(self._root, self._where)
        existing, declared = columns_of(opened), _declared_columns(table)
        if list(existing.items()) != list(declared.items()):
            raise TableError(
                f"the Paimon table has the columns {columns_text(existing)}, and not {columns_text(declared)}",
                where=self._where,
                hint="declare those that it has, in their order",
            )
        for what, has, says in (
            ("the primary key", opened.table_schema.primary_keys, table.primary_key),
            ("the partition columns", opened.table_schema.partition_keys, table.partition_keys),
        ):
            if sorted(has or ()) != sorted(says):
                names = ", ".join(has) or "none"
                raise TableError(f"{what} of the Paimon table: {names}", where=self._where, hint="declare the same")
        properties = opened.table_schema.options
        for key, value in table.options.items():
            if is_property(key) and properties.get(key, value) != value:
                message = f"the Paimon table has '{key}' = '{properties[key]}', and not '{value}'"
                raise TableError(message, where=self._where, hint="declare the same, or leave the option out")
        if table.primary_key and not set(table.partition_keys) <= set(table.primary_key):
            raise TableError(
                "the primary key of a partitioned Paimon table must have the partition columns to be written here",
                where=self._where,
                hint="add them to the key",
            )
        return opened

    def holds(self, writer: str, batch: int) -> bool:
        """As :meth:`TableLog.holds`."""
        if writer not in self._committed:
            with library_errors(self._where):
                self._committed[writer] = _last_commit(opened_table(self._root, self._where), writer)
        return self._committed[writer] >= batch

    def commit(self, writer: str, batch: int, files: Sequence[DataFile]) -> None:
        """As :meth:`TableLog.commit`, of rows that are no data files of the table yet."""
        raise AssertionError("rows are handed over")

    def append(self, writer: str, batch: int, paths: Sequence[str]) -> None:
        """As :meth:`TableLog.append`."""
        self._write(writer, batch, paths)

    def merge(self, writer: str, batch: int, paths: Sequence[str]) -> None:
        """As :meth:`TableLog.merge`."""
        self._write(writer, batch, paths)

    def overwrite(self, writer: str, batch: int, paths: Sequence[str], partition: Mapping[str, str]) -> None:
        """As :meth:`TableLog.overwrite`."""
        from pypaimon.write.table_commit import BatchTableCommit

        with library_errors(self._where):
            opened = self._check()
            BatchTableCommit(opened, writer, dict(partition)).commit(_written(opened, writer, batch, paths))

    def _write(self, writer: str, batch: int, paths: Sequence[str]) -> None:
        from pypaimon.write.table_commit import StreamTableCommit

        with library_errors(self._where):
            opened = self._check()
            StreamTableCommit(opened, writer).commit(_written(opened, writer, batch, paths), batch)
        self._committed[writer] = batch


def _last_commit(opened: Any, writer: str) -> int:
    """The number of the last commit of a writer; -1: there is none."""
    manager = opened.snapshot_manager()
    latest = manager.get_latest_snapshot()
    number = 0 if latest is None else latest.id
    while number > 0 and (snapshot := manager.get_snapshot_by_id(number)) is not None:
        if snapshot.commit_user == writer:
            return int(snapshot.commit_identifier)
        number -= 1
    return -1


def _written(opened: Any, writer: str, batch: int, paths: Sequence[str]) -> list[Any]:
    """What is to be committed of the rows in local Parquet files, which are written as data files of the table."""
    from pyarrow.dataset import dataset

    from .paimon_writer import TableWrite, rows_as_written

    if not paths:
        return []
    write = TableWrite(opened, writer)
    try:
        for path in paths:  # the changes of a key are in one file, in their order
            for part in dataset(path, format="parquet").to_batches():
                if part.num_rows:
                    write.write_arrow_batch(rows_as_written(part, opened))
        return list(write.prepare_commit(batch))
    except BaseException:
        write.abort()
        raise
    finally:
        write.close()


def _create(table: Table, root: Path) -> None:
    from pypaimon.common.file_io import FileIO
    from pypaimon.common.options import Options
    from pypaimon.schema.schema import Schema
    from pypaimon.schema.schema_manager import SchemaManager

    properties = {key: value for key, value in table.options.items() if is_property(key)}
    fields = _fields(table)
    schema = Schema(fields, list(table.partition_keys), list(table.primary_key), properties)
    SchemaManager(FileIO.get(str(root), Options({})), str(root)).create_table(schema)


def _fields(table: Table) -> list[Any]:
    from pypaimon.schema.data_types import DataField

    numbers = iter(range(1 << 20))
    return [DataField(next(numbers), name, _paimon_type(t, numbers)) for name, t in table.physical]


def _paimon_type(t: LogicalType, numbers: Iterator[int]) -> Any:
    from pypaimon.schema.data_types import ArrayType, AtomicType, DataField, MapType, RowType

    if t.root == "ARRAY":
        return ArrayType(t.nullable, _paimon_type(t.element, numbers))
    if t.root == "MAP":
        key, value = t.children
        return MapType(t.nullable, _paimon_type(key, numbers), _paimon_type(value, numbers))
    if t.root == "ROW":
        fields = [DataField(next(numbers), f.name, _paimon_type(f.type, numbers)) for f in t.fields]
        return RowType(t.nullable, fields)
    return AtomicType(type_text(t), t.nullable)


def type_text(t: LogicalType) -> str:
    """The text of an atomic type in the schema of a Paimon table."""
    text = str(t.with_nullability(True))
    if t.root == "TIMESTAMP_LTZ":
        return f"TIMESTAMP({t.precision}) WITH LOCAL TIME ZONE"
    return {f"VARCHAR({_NO_LIMIT})": "STRING", f"VARBINARY({_NO_LIMIT})": "BYTES"}.get(text, text)


def _declared_columns(table: Table) -> Mapping[str, str]:
    from pypaimon.schema.data_types import PyarrowFieldParser

    schema = PyarrowFieldParser.from_paimon_schema(_fields(table))
    return {field.name: str(field.type) for field in schema}


def columns_of(opened: Any) -> Mapping[str, str]:
    """The types of a table's columns, as Arrow shows them."""
    from pypaimon.schema.data_types import PyarrowFieldParser

    return {field.name: str(field.type) for field in PyarrowFieldParser.from_paimon_schema(opened.fields)}


def check_columns(table: Table, opened: Any) -> None:
    """Raise :class:`TableError` where a declared column is not there, or of another type."""
    existing = columns_of(opened)
    for name, t in _declared_columns(table).items():
        if existing.get(name) != t:
            declared = dict(table.physical)[name]
            has = existing.get(name, "none")
            message = f"the column '{name}' is declared as {declared}, and the Paimon table has {has}"
            raise TableError(readable(message), where=f"table {table.identifier}")


def keeps_all_changes(table: Table) -> bool:
    """Whether each change is written, not only the last one of a key in a batch."""
    from ...plan.connectors.paimon import DEDUPLICATE, MERGE_ENGINE

    merges = table.options.get(MERGE_ENGINE, DEDUPLICATE) != DEDUPLICATE
    return merges or table.options.get(CHANGELOG_PRODUCER) == INPUT or "sequence.field" in table.options


def existing_table(root: Path) -> Any:
    """pypaimon's table in a directory; ``None``: there is none."""
    from pypaimon.table.file_store_table import FileStoreTable

    if not (root / "schema").is_dir():
        return None
    return FileStoreTable.from_path(str(root))


def opened_table(root: Path, where: str) -> Any:
    """pypaimon's table in a directory.  Raises :class:`TableError` where there is none."""
    opened = existing_table(root)
    if opened is None:
        raise TableError(f"there is no Paimon table in {root}", where=where)
    return opened


@contextmanager
def library_errors(where: str) -> Iterator[None]:
    """What the library raises, as :class:`TableError`."""
    try:
        import pypaimon  # noqa: F401
    except ImportError:
        hint = "pip install 'flinkplan[paimon]' into an environment whose PyArrow is older than 20"
        raise TableError("Paimon tables need pypaimon", where=where, hint=hint) from None
    try:
        yield
    except FlinkplanError:
        raise
    except Exception as e:  # also of PyArrow, and whatever the library raises for tables that it does not read
        raise TableError(f"the Paimon table: {type(e).__name__}: {e}", where=where) from e

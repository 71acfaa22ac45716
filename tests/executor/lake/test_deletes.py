"""Tables whose deleted rows are still in data files: Iceberg's files of deletes, and Delta's deletion vectors."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog import load_catalog
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestWriterV2,
)
from pyiceberg.table.snapshots import Operation
from pyiceberg.table.update.snapshot import _FastAppendFiles
from pyiceberg.typedef import Record

from flinkplan.executor.lake import delta
from flinkplan.executor.lake.iceberg import files_of
from flinkplan.plan.files import Place

from .readers import _duckdb, has_duckdb


class _DeletesWriter(ManifestWriterV2):
    """PyIceberg writes no manifests of deletes."""

    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}


class _AppendDeletes(_FastAppendFiles):
    """A snapshot that adds a file of deletes."""

    def new_manifest_writer(self, spec: Any) -> Any:
        return _DeletesWriter(spec, self.schema(), self.new_manifest_output(), self._snapshot_id, self._compression)

    def _summary(self, snapshot_properties: Any = None) -> Any:
        added, self._added_data_files = self._added_data_files, []
        summary = super()._summary()
        self._added_data_files = added
        return summary


class Lake:
    """A table of format 2 with the columns ``id`` and ``v``."""

    def __init__(self, root: Path, *, is_partitioned: bool = False) -> None:
        """``is_partitioned``: by ``v``."""
        self.root = root
        catalog = load_catalog("default", type="sql", uri=f"sqlite:///{root}/c.db", warehouse=f"file://{root}/lake")
        catalog.create_namespace("default")
        schema = pa.schema([pa.field("id", pa.int32()), pa.field("v", pa.string())])
        self.table = catalog.create_table("default.t", schema, properties={"format-version": "2"})
        if is_partitioned:
            with self.table.update_spec() as update:
                update.add_identity("v")

    def add(self, **columns: list[Any]) -> str:
        """Append rows; the path of their file."""
        before = self._paths()
        self.table.append(pa.table(columns, self.table.schema().as_arrow()))
        (path,) = self._paths() - before
        return path

    def _paths(self) -> set[str]:
        """The paths of all data files."""
        current, io = self.table.current_snapshot(), self.table.io
        manifests = [] if current is None else current.manifests(io)
        data = (manifest for manifest in manifests if manifest.content == ManifestContent.DATA)
        return {entry.data_file.file_path for manifest in data for entry in manifest.fetch_manifest_entry(io)}

    def delete(self, rows: pa.Table, ids: list[int] | None, *partition: str) -> None:
        """Delete rows, in a partition or everywhere, by the values of columns, or by their positions."""
        path = self.root / f"deletes-{len(self.table.snapshots())}.parquet"
        pq.write_table(rows, path)
        file = DataFile.from_args(
            content=DataFileContent.POSITION_DELETES if ids is None else DataFileContent.EQUALITY_DELETES,
            file_path=f"file://{path}",
            file_format=FileFormat.PARQUET,
            partition=Record(*partition),
            record_count=rows.num_rows,
            file_size_in_bytes=path.stat().st_size,
            equality_ids=ids,
        )
        file.spec_id = self.table.spec().spec_id
        with self.table.transaction() as transaction:
            producer = _AppendDeletes(Operation.DELETE, transaction, self.table.io)
            producer.append_data_file(file)
            producer.commit()

    def rows(self, *, is_compared: bool = True) -> list[tuple[Any, ...]]:
        """The rows that are left; ``is_compared``: with what DuckDB reads."""
        self.table.refresh()
        read = [
            tuple(row.values())
            for file in files_of(self.table, None, "table t")
            for row in pq.ParquetFile(file.path.removeprefix("file://")).read(["id", "v"]).to_pylist()
        ]
        read.sort(key=repr)
        if is_compared and has_duckdb():
            other = _duckdb().sql(f"SELECT id, v FROM iceberg_scan('{self.table.metadata_location}')").fetchall()
            assert sorted(other, key=repr) == read
        return read


def keys(values: list[Any], name: str = "id") -> pa.Table:
    number, type_ = {"id": ("1", pa.int32()), "v": ("2", pa.string())}[name]
    return pa.table([values], pa.schema([pa.field(name, type_, metadata={"PARQUET:field_id": number})]))


def test_rows_are_deleted_by_keys_in_files_that_were_there_before(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.add(id=[1, 2, None, 4], v=["a", "b", "c", None])
    lake.delete(keys([2, None, 9]), [1])
    assert lake.rows() == [(1, "a"), (4, None)]
    lake.add(id=[2, 5], v=["again", "e"])
    assert lake.rows() == [(1, "a"), (2, "again"), (4, None), (5, "e")]
    lake.delete(keys([None, "e"], "v"), [2])
    assert lake.rows() == [(1, "a"), (2, "again")]
    lake.delete(keys([1, 2]), [1])
    assert lake.rows() == []


def test_rows_are_deleted_by_their_positions(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    first = lake.add(id=[1, 2, 3], v=["a", "b", "c"])
    second = lake.add(id=[4, 5], v=["d", "e"])
    ids = {"file_path": b"2147483546", "pos": b"2147483545"}
    types = {"file_path": pa.string(), "pos": pa.int64()}
    schema = pa.schema([pa.field(n, t, False, {b"PARQUET:field_id": ids[n]}) for n, t in types.items()])
    lake.delete(pa.table([[first, first, second], [0, 2, 1]], schema), None)
    assert lake.rows() == [(2, "b"), (4, "d")]
    lake.delete(keys([4]), [1])
    assert lake.rows() == [(2, "b")]


def test_rows_are_deleted_in_a_partition(tmp_path: Path) -> None:
    lake = Lake(tmp_path, is_partitioned=True)
    lake.table.append(pa.table([[1, 1, 2], ["a", "b", "a"]], lake.table.schema().as_arrow()))
    lake.delete(keys([1]), [1], "a")
    # the specification says so; DuckDB 1.5 applies files of keys to all partitions
    assert lake.rows(is_compared=False) == [(1, "b"), (2, "a")]


def _z85(content: bytes) -> str:
    alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    words = struct.unpack(f">{len(content) // 4}I", content)
    return "".join(alphabet[word // 85**power % 85] for word in words for power in (4, 3, 2, 1, 0))


def _vector(positions: list[int]) -> dict[str, Any]:
    """A deletion vector within the log: a bitmap of one container."""
    bitmap = struct.pack("<IIHHI", 12346, 1, 0, len(positions) - 1, 16) + struct.pack(f"<{len(positions)}H", *positions)
    content = struct.pack("<IQI", 1681511377, 1, 0) + bitmap
    content += b"\0" * (-len(content) % 4)
    return {
        "storageType": "i",
        "pathOrInlineDv": _z85(content),
        "sizeInBytes": len(content),
        "cardinality": len(positions),
    }


def test_deletion_vectors_of_delta_tables(tmp_path: Path) -> None:
    path = tmp_path / "lake"
    for ids in ([1, 2, 3, 4], [5], [6, 7]):
        rows = pa.table({"id": pa.array(ids, pa.int32()), "p": ["a/b %"] * len(ids)})
        write_deltalake(str(path), rows, mode="append", partition_by=["p"])
    features = ["deletionVectors"]
    actions: list[Any] = [
        {
            "protocol": {
                "minReaderVersion": 3,
                "minWriterVersion": 7,
                "readerFeatures": features,
                "writerFeatures": features,
            }
        }
    ]
    for version, positions in ((0, [0, 2]), (1, [0])):
        (log,) = [
            json.loads(x) for x in (path / f"_delta_log/{version:020}.json").read_text().splitlines() if '"add"' in x
        ]
        add = log["add"]
        actions.append({"remove": {"path": add["path"], "deletionTimestamp": 1, "dataChange": True}})
        actions.append({"add": {**add, "deletionVector": _vector(positions)}})
    (path / f"_delta_log/{3:020}.json").write_text("".join(f"{json.dumps(action)}\n" for action in actions))
    opened = DeltaTable(str(path))
    read = [
        id_
        for file in delta.snapshot_of(opened, Place.of(path), "table t").files
        for id_ in pq.ParquetFile(file.path.removeprefix("file://")).read(["id"])["id"].to_pylist()
    ]
    assert sorted(read) == [2, 4, 6, 7]
    if has_duckdb():
        other = _duckdb().sql(f"SELECT id FROM delta_scan('{path}')").fetchall()
        assert sorted(other) == [(2,), (4,), (6,), (7,)]

"""Rows of Iceberg tables that other files say are deleted, as sinks of Flink and MERGE statements write them.

What is left of the data files that such files are about is written into temporary files on the driver.

Source: the Iceberg specification, "Scan Planning" and "Row-level Deletes".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from ..errors import TableError
from ..scratch import temporary_folder
from .positions import StoredFile, local_file

_ROW, _POSITION, _FILE = "__row", "pos", "file_path"


def has_deletes(opened: Any, snapshot: Any) -> bool:
    """Whether files of a snapshot delete rows of others."""
    from pyiceberg.manifest import ManifestContent

    return any(manifest.content == ManifestContent.DELETES for manifest in snapshot.manifests(opened.io))


def files_without_deleted_rows(opened: Any, snapshot: Any, where: str) -> Iterator[StoredFile]:
    """The data files of a snapshot, or what is left of them.

    Raises :class:`TableError` for files that are not in local directories or not of Parquet, and for deletion vectors.
    """
    folder, numbers = temporary_folder("lake-"), count()
    for file, about in data_files(opened, snapshot, where):
        if not about:
            yield StoredFile(file.file_path, file.file_size_in_bytes, {})
        elif (left := rows_left(opened, file, about, where)).num_rows:
            yield _written(left, folder / f"{next(numbers)}.parquet")


def data_files(opened: Any, snapshot: Any, where: str) -> Iterator[tuple[Any, Sequence[Any]]]:
    """The data files of a snapshot, each with the files of deletes that may be about it.

    Raises :class:`TableError` for files that are not of Parquet, as deletion vectors are.
    """
    from pyiceberg.manifest import ManifestContent

    data: list[Any] = []
    deletes: list[Any] = []
    for manifest in snapshot.manifests(opened.io):
        entries = manifest.fetch_manifest_entry(opened.io)
        (deletes if manifest.content == ManifestContent.DELETES else data).extend(entries)
    for entry in (*data, *deletes):
        if "PARQUET" not in str(entry.data_file.file_format).upper():
            raise TableError(f"files of the format {entry.data_file.file_format} are not read here", where=where)
    for entry in data:
        yield entry.data_file, [delete.data_file for delete in deletes if _is_about(delete, entry, opened)]


def rows_left(opened: Any, file: Any, about: Sequence[Any], where: str) -> Any:
    """The rows of a data file that none of some files of deletes is about.

    Raises :class:`TableError` for files that are not in local directories.
    """
    from pyiceberg.manifest import DataFileContent

    is_equality = DataFileContent.EQUALITY_DELETES
    by_position = [delete for delete in about if delete.content != is_equality]
    by_key: dict[tuple[int, ...], list[Any]] = {}
    for delete in about:
        if delete.content == is_equality:
            by_key.setdefault(tuple(delete.equality_ids or ()), []).append(delete)
    keys = {tuple(_columns(opened, ids, where)): files for ids, files in by_key.items()}
    return _left(file.file_path, by_position, keys, where)


def _is_about(delete: Any, entry: Any, opened: Any) -> bool:
    """Whether a file of deletes may be about a data file, by their sequence numbers and partitions."""
    from pyiceberg.manifest import DataFileContent

    by, file = delete.data_file, entry.data_file
    is_by_key = by.content == DataFileContent.EQUALITY_DELETES
    if is_by_key and not opened.specs()[by.spec_id].fields:
        return bool(entry.sequence_number < delete.sequence_number)
    if by.spec_id != file.spec_id or by.partition != file.partition:
        return False
    later = delete.sequence_number - entry.sequence_number
    return bool(later > 0 if is_by_key else later >= 0)


def _columns(opened: Any, ids: Sequence[int], where: str) -> Iterator[str]:
    for id_ in ids:
        name = opened.schema().find_column_name(id_)
        if name is None:
            raise TableError(
                "rows of the Iceberg table are deleted by a column that it does not have any more", where=where
            )
        yield name


def _left(path: str, by_position: Sequence[Any], by_key: Mapping[tuple[str, ...], Sequence[Any]], where: str) -> Any:
    """The rows of a data file that none of the files of deletes is about."""
    import pyarrow as pa
    from pyarrow import compute
    from pyarrow.parquet import ParquetFile

    rows = ParquetFile(_local(path, where)).read()
    ones = pa.repeat(pa.scalar(1, pa.int64()), rows.num_rows)
    rows = rows.append_column(_ROW, compute.subtract(compute.cumulative_sum(ones), 1))
    for file in by_position:
        positions = ParquetFile(_local(file.file_path, where)).read([_FILE, _POSITION])
        own = positions.filter(compute.equal(positions[_FILE], path))[_POSITION]
        rows = rows.filter(compute.invert(compute.is_in(rows[_ROW], value_set=own.combine_chunks())))
    for names, files in by_key.items():
        for file in files:
            rows = _without_keys(rows, ParquetFile(_local(file.file_path, where)).read(), names)
    return rows.drop_columns([_ROW])


def _without_keys(rows: Any, deleted: Any, names: Sequence[str]) -> Any:
    """The rows whose values in some columns no deleted row has; NULL is equal to NULL."""
    import pyarrow as pa

    codes: dict[str, Any] = {}
    for name in names:
        own = rows[name] if name in rows.column_names else pa.nulls(rows.num_rows, deleted[name].type)
        values = pa.chunked_array([*_chunks(own), *_chunks(deleted[name].cast(own.type))], own.type)
        codes[name] = values.combine_chunks().dictionary_encode(null_encoding="encode").indices
    keyed = pa.table({_ROW: rows[_ROW], **{name: c.slice(0, rows.num_rows) for name, c in codes.items()}})
    gone = pa.table({name: c.slice(rows.num_rows) for name, c in codes.items()})
    left = keyed.join(gone, list(names), join_type="left anti")[_ROW]
    kept = pa.compute.is_in(rows[_ROW], value_set=left.combine_chunks())
    return rows.filter(kept)


def _chunks(values: Any) -> Sequence[Any]:
    return values.chunks if hasattr(values, "chunks") else [values]


def _written(rows: Any, path: Path) -> StoredFile:
    from pyarrow.parquet import write_table

    write_table(rows, path)
    return StoredFile(f"file://{path}", path.stat().st_size, {})


def _local(path: str, where: str) -> Path:
    local = local_file(path)
    if local is None:
        raise TableError("Iceberg tables with deleted rows are read in local directories only", where=where)
    return local

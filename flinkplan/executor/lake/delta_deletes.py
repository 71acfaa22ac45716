"""Rows of Delta tables that deletion vectors say are deleted.

What is left of the data files that have one is written into temporary files on the driver.

Source: the transaction protocol of Delta Lake, "Deletion Vectors".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ..errors import TableError
from ..scratch import temporary_folder
from .positions import StoredFile, local_file

FEATURE = "deletionVectors"


def without_deleted_rows(opened: Any, files: Sequence[StoredFile], where: str) -> list[StoredFile]:
    """The data files of a table, or what is left of them.  Raises :class:`TableError` where the library is too old."""
    import pyarrow as pa

    if not hasattr(opened, "deletion_vectors"):
        raise TableError(
            "this version of deltalake reads no deletion vectors", where=where, hint="pip install -U deltalake"
        )
    vectors = pa.table(opened.deletion_vectors())
    kept = {
        local_file(unquote(path)): mask
        for path, mask in zip(vectors[0].to_pylist(), vectors[1].combine_chunks(), strict=True)
    }
    if not kept:
        return list(files)
    if None in kept:
        raise TableError("Delta tables with deletion vectors are read in local directories only", where=where)
    folder, numbers = temporary_folder("lake-"), count()
    left = (_left(file, kept, folder / f"{next(numbers)}.parquet") for file in files)
    return [file for file in left if file is not None]


def _left(file: StoredFile, kept: Mapping[Path | None, Any], path: Path) -> StoredFile | None:
    """The file, or another one with the rows of it that are kept; ``None``: there are none."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile, write_table

    local = local_file(file.path)
    if local is None or local not in kept:
        return file
    rows = ParquetFile(local).read()
    mask = kept[local].values
    rest = pa.repeat(pa.scalar(True), max(rows.num_rows - len(mask), 0))
    left = rows.filter(pa.chunked_array([mask, rest]))
    if left.num_rows == 0:
        return None
    write_table(left, path)
    return StoredFile(f"file://{path}", path.stat().st_size, file.partition)

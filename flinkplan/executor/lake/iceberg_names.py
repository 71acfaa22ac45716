"""Data files of Iceberg tables that call columns otherwise than the table does now.

A column is known by its id, which stays when it is renamed, and files are read by names.  So files in which the names
stand for other ids are written anew, with the names of now, into temporary files on the driver.

Source: the Iceberg specification, "Column Projection" and "Name Mapping".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count
from typing import Any

from ..errors import TableError
from ..scratch import temporary_folder
from .positions import StoredFile, local_file

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""Names that data files have as they are; writers of other languages encode others."""

_ID = b"PARQUET:field_id"


class ColumnNames:
    """Gives data files of a table the names of a schema."""

    def __init__(self, opened: Any, schema: Any, where: str) -> None:
        self._opened, self._schema, self._where = opened, schema, where
        self._numbers = count()
        self.may_differ = _may_differ(opened.metadata.schemas, schema)
        """Whether files may call columns otherwise."""
        self._folder = temporary_folder("lake-") if self.may_differ else None

    def named(self, file: StoredFile) -> StoredFile:
        """The file, or another one with its rows.  Raises :class:`TableError` where it is not in a local directory."""
        if self._folder is None:
            return file
        from pyarrow.parquet import ParquetFile, write_table

        local = local_file(file.path)
        if local is None:
            message = "Iceberg tables whose columns were renamed are read in local directories only"
            raise TableError(message, where=self._where)
        content = ParquetFile(local)
        ids = self._ids(content.schema_arrow)
        names = {ids[field.field_id]: field.name for field in self._schema.fields if field.field_id in ids}
        current = {field.name for field in self._schema.fields}
        if all(old == new for old, new in names.items()) and current & set(content.schema_arrow.names) <= set(names):
            return file
        path = self._folder / f"{next(self._numbers)}.parquet"
        rows = content.read(list(names))
        write_table(rows.rename_columns([names[name] for name in rows.column_names]), path)
        return StoredFile(f"file://{path}", path.stat().st_size, file.partition)

    def _ids(self, schema: Any) -> Mapping[int, str]:
        """The names of a file's columns by their ids, which the table knows where the file does not have them."""
        from pyiceberg.table.name_mapping import NameMapping

        mapping: NameMapping | None = self._opened.name_mapping()
        known = {} if mapping is None else {name: field.field_id for field in mapping.root for name in field.names}
        ids = {}
        for field in schema:
            own = (field.metadata or {}).get(_ID)
            id_ = int(own) if own is not None else known.get(field.name)
            if id_ is not None:
                ids[id_] = field.name
        return ids


def _may_differ(schemas: list[Any], schema: Any) -> bool:
    names = {field.field_id: field.name for field in schema.fields}
    ids = {name: id_ for id_, name in names.items()}
    earlier = [field for each in schemas for field in each.fields]
    return not all(map(_PLAIN.fullmatch, ids)) or any(
        names.get(field.field_id, field.name) != field.name or ids.get(field.name, field.field_id) != field.field_id
        for field in earlier
    )

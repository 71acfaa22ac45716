"""How changes of rows become data files of a Paimon table: pypaimon's writers, told of the kind of each change.

pypaimon itself reads kinds from a column of the table only, and its changelog has the last change of each key alone.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pypaimon.common.options.core_options import ChangelogProducer, MergeEngine
from pypaimon.schema.arrow_schema import normalize_arrow_strings
from pypaimon.schema.data_types import PyarrowFieldParser
from pypaimon.write.file_store_write import FileStoreWrite
from pypaimon.write.table_write import StreamTableWrite
from pypaimon.write.writer.key_value_data_writer import KeyValueDataWriter

from .log import DELETED, KIND

_UPDATE_BEFORE, _DELETE = _RETRACTIONS = (1, 3)
_KEY, _SEQUENCE, _VALUE_KIND = "_KEY_", "_SEQUENCE_NUMBER", "_VALUE_KIND"


def rows_as_written(batch: pa.RecordBatch, opened: Any) -> pa.RecordBatch:
    """Rows with the types of a table; the column :data:`KIND` follows them where it has a primary key."""
    schema = PyarrowFieldParser.from_paimon_schema(opened.fields)
    columns = [batch.column(field.name).cast(field.type) for field in schema]
    if not opened.is_primary_key_table:
        return pa.RecordBatch.from_arrays(columns, schema=schema)
    kinds = pa.repeat(pa.scalar(0, pa.int8()), batch.num_rows)
    if KIND in batch.schema.names:
        kinds = batch.column(KIND).cast(pa.int8())
    elif DELETED in batch.schema.names:
        kinds = pa.compute.if_else(batch.column(DELETED), pa.scalar(_DELETE, pa.int8()), kinds)
    rows = pa.RecordBatch.from_arrays([*columns, kinds], schema=schema.append(pa.field(KIND, pa.int8(), False)))
    dropped = _RETRACTIONS if opened.options.ignore_delete() else (_UPDATE_BEFORE,) if _ignores_old(opened) else ()
    return rows.filter(pa.compute.invert(pa.compute.is_in(kinds, value_set=pa.array(dropped, pa.int8()))))


def _ignores_old(opened: Any) -> bool:
    return str(opened.options.options.to_map().get("ignore-update-before", "false")).lower() == "true"


class TableWrite(StreamTableWrite):  # type: ignore[misc]
    """Writes batches as :func:`rows_as_written` makes them."""

    def _create_file_store_write(self, commit_user: str) -> FileStoreWrite:
        return _Files(self.table, commit_user)

    def _prepare_arrow_data(self, data: pa.RecordBatch) -> pa.RecordBatch:
        return normalize_arrow_strings(data)


class _Files(FileStoreWrite):  # type: ignore[misc]
    def _create_data_writer(self, partition: Any, bucket: int, options: Any) -> Any:
        writer = super()._create_data_writer(partition, bucket, options)
        if type(writer) is not KeyValueDataWriter:
            return writer
        return _KeyedWriter(
            table=self.table,
            partition=partition,
            bucket=bucket,
            max_seq_number=writer.sequence_generator.current,
            options=options,
            merge_function=self._build_pk_merge_function(),
            changelog_producer=self.changelog_producer,
        )


class _KeyedWriter(KeyValueDataWriter):  # type: ignore[misc]
    """Writes the rows of a bucket; with the changelog producer ``input`` each change into its changelog, too."""

    def __init__(self, **settings: Any) -> None:
        self._changes = None
        if settings["changelog_producer"] == ChangelogProducer.INPUT:
            settings = {**settings, "changelog_producer": ChangelogProducer.NONE}
            self._changes = _ChangesWriter(**settings)
        super().__init__(**settings)
        merges = self.options.merge_engine() != MergeEngine.DEDUPLICATE
        self._folds = merges or self._changes is not None or bool(self.options.sequence_field())

    def _process_data(self, data: pa.RecordBatch) -> pa.Table:
        rows = super()._process_data(data)
        if self._changes is not None:
            self._changes.add(rows)
        return rows

    def _merge_pending_by_pk(self, data: pa.Table) -> pa.Table:
        """The last change of each key; the rows of a batch have each key once, unless all changes are kept."""
        if not self._folds:
            return data
        if self.options.merge_engine() != MergeEngine.DEDUPLICATE:
            return super()._merge_pending_by_pk(data)
        return _last_of_each_key(data, [f"{_KEY}{name}" for name in self.trimmed_primary_keys])

    def _write_data_to_file(self, data: pa.Table) -> None:
        written = len(self.committed_files)
        super()._write_data_to_file(data)
        deleted = pa.compute.is_in(data[_VALUE_KIND], value_set=pa.array(_RETRACTIONS, pa.int8()))
        for file in self.committed_files[written:]:  # by their number readers know whether rows are left out
            file.delete_row_count = pa.compute.sum(deleted).as_py()

    def prepare_commit(self) -> list[Any]:
        files: list[Any] = super().prepare_commit()
        if self._changes is not None:
            self.committed_changelog_files = self._changes.prepare_commit()
        return files

    def _add_system_fields(self, data: pa.RecordBatch) -> pa.RecordBatch:
        kinds = data.column(KIND)
        names = [name for name in data.schema.names if name != KIND]
        first = self.sequence_generator.current + 1
        for _ in range(data.num_rows):
            self.sequence_generator.next()
        numbers = pa.array(range(first, first + data.num_rows), pa.int64())
        keys = [data.column(name) for name in self.trimmed_primary_keys]
        key_fields = [data.schema.field(name).with_name(f"{_KEY}{name}") for name in self.trimmed_primary_keys]
        own = [pa.field(_SEQUENCE, pa.int64(), False), pa.field(_VALUE_KIND, pa.int8(), False)]
        fields = [*key_fields, *own, *(data.schema.field(name) for name in names)]
        columns = [*keys, numbers, kinds, *(data.column(name) for name in names)]
        return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


class _ChangesWriter(KeyValueDataWriter):  # type: ignore[misc]
    """Writes the changes of a bucket in their order."""

    def add(self, rows: pa.Table) -> None:
        self._buffer.append(rows)

    def _merge_pending_by_pk(self, data: pa.Table) -> pa.Table:
        return data


def _last_of_each_key(rows: pa.Table, keys: list[str]) -> pa.Table:
    """Of rows that stand together by their keys, in their order, the last one of each key."""
    numbered = rows.select(keys).append_column("row", pa.array(range(rows.num_rows), pa.int64()))
    last = numbered.group_by(keys, use_threads=False).aggregate([("row", "max")])["row_max"]
    return rows.take(last.combine_chunks())

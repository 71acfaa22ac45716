"""Batches of rows as the Java half reads and writes them: buffers in the layout of Arrow (``Vector.java``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ..state.form import StateError
from ..state.form_arrow import arrow

if TYPE_CHECKING:
    from pyarrow import Array, DataType, RecordBatch, Schema

_WORD = 8
"""The bytes of a length, and what buffers are padded to."""


def read_batches(file: Path, schema: Schema) -> Iterator[RecordBatch]:
    """The batches of a file; none where there is no file.  Raises :class:`StateError` where it ends too early."""
    if not file.exists():
        return
    pa = arrow()
    with pa.OSFile(str(file)) as source:  # pages of a mapped file would count as memory of this process
        reader = _Buffers(source, file)
        while reader.has_more:
            rows = reader.number()
            columns = [reader.array(field.type, rows) for field in schema]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


class _Buffers:
    """The numbers and buffers of an open file of Arrow's, in their order."""

    def __init__(self, source: Any, file: Path) -> None:
        self._source = source
        self._size = source.size()
        self._file = file

    @property
    def has_more(self) -> bool:
        return bool(self._source.tell() < self._size)

    def number(self) -> int:
        return int.from_bytes(self._read(_WORD), "little")

    def buffer(self) -> Any:
        length = self.number()
        content = self._read(length)
        self._read(-length % _WORD)
        return content

    def _read(self, length: int) -> Any:
        if length > self._size - self._source.tell():
            raise StateError("the table ends too early", where=str(self._file))
        return self._source.read_buffer(length)

    def array(self, t: DataType, rows: int) -> Array:
        pa = arrow()
        validity = self.buffer()
        valid = validity if validity.size else None
        if pa.types.is_struct(t):
            fields = [self.array(field.type, rows) for field in t]
            return pa.Array.from_buffers(t, rows, [valid], children=fields)
        if pa.types.is_list(t):
            offsets = self.buffer()
            elements = self.array(t.value_type, self.number())
            return pa.Array.from_buffers(t, rows, [valid, offsets], children=[elements])
        if pa.types.is_string(t) or pa.types.is_binary(t):
            return pa.Array.from_buffers(t, rows, [valid, self.buffer(), self.buffer()])
        return pa.Array.from_buffers(t, rows, [valid, self.buffer()])


def write_batches(file: Path, batches: Iterable[RecordBatch]) -> int:
    """Write a file of batches; how many rows they have."""
    pa = arrow()
    rows = 0
    with file.open("wb") as out:
        for batch in batches:
            if not batch.num_rows:
                continue
            # Arrow's own format has no offsets into larger buffers
            compact = pa.ipc.read_record_batch(batch.serialize(), batch.schema)
            out.write(compact.num_rows.to_bytes(_WORD, "little"))
            for column in compact.columns:
                _write(out, column)
            rows += compact.num_rows
    return rows


def _write(out: BinaryIO, array: Array) -> None:
    pa = arrow()
    t, rows = array.type, len(array)
    buffers = array.buffers()
    _write_buffer(out, buffers[0], (rows + 7) // 8 if buffers[0] is not None and array.null_count else 0)
    if pa.types.is_struct(t):
        for i in range(t.num_fields):
            _write(out, array.field(i))
    elif pa.types.is_list(t):
        _write_buffer(out, buffers[1], 4 * (rows + 1))
        out.write(len(array.values).to_bytes(_WORD, "little"))
        _write(out, array.values)
    elif pa.types.is_string(t) or pa.types.is_binary(t):
        _write_buffer(out, buffers[1], 4 * (rows + 1))
        _write_buffer(out, buffers[2], _end(buffers[1], rows))
    elif pa.types.is_boolean(t):
        _write_buffer(out, buffers[1], (rows + 7) // 8)
    else:
        _write_buffer(out, buffers[1], rows * (t.bit_width // 8))


def _end(offsets: Any, rows: int) -> int:
    """Where the bytes of the last row end."""
    if offsets is None or offsets.size < 4 * (rows + 1):
        return 0
    return int.from_bytes(memoryview(offsets)[4 * rows : 4 * rows + 4], "little")


def _write_buffer(out: BinaryIO, buffer: Any, length: int) -> None:
    out.write(length.to_bytes(_WORD, "little"))
    content = b"" if buffer is None else memoryview(buffer)[:length]
    out.write(content)
    out.write(bytes(length - len(content) + -length % _WORD))

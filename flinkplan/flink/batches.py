"""Batches of rows as the Java half writes them: buffers in the layout of Arrow, read without copying."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    with pa.memory_map(str(file)) as source:
        content = source.read_buffer()
    reader = _Buffers(content, file)
    while reader.has_more:
        rows = reader.number()
        columns = [reader.array(field.type, rows) for field in schema]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


class _Buffers:
    def __init__(self, content: Any, file: Path) -> None:
        self._content = content
        self._view = memoryview(content)
        self._file = file
        self._at = 0

    @property
    def has_more(self) -> bool:
        return self._at < len(self._view)

    def number(self) -> int:
        word = self._view[self._at : self._at + _WORD]
        self._at += _WORD
        if len(word) < _WORD:
            raise StateError("the table ends too early", where=str(self._file))
        return int.from_bytes(word, "little")

    def buffer(self) -> Any:
        length = self.number()
        if self._at + length > len(self._view):
            raise StateError("the table ends too early", where=str(self._file))
        found = self._content.slice(self._at, length)
        self._at += length + -length % _WORD
        return found

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

"""The files in which what was read of a database goes to Spark, as ``ChangeReader.java`` reads them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from ...plan.record import Record

_ROWS, _CHANGES, _LAYOUT, _MESSAGE = b"T", b"C", b"L", b"M"
_HEAD = struct.Struct(">cqBi")
_ID = struct.Struct(">ci")
_SHORT = struct.Struct(">h")

KEEPS_ALL, SKIPS_OLD, SKIPS_NEW = 0, 1, 2
"""Which images of a change are left out, as flags."""


class Layout(Record):
    """A table, and for each column of its changes which declared column it is; -1: none."""

    schema: str
    table: str
    columns: tuple[int, ...]

    def encoded(self) -> bytes:
        """The bytes in a file."""
        names = b"".join(
            _SHORT.pack(len(name)) + name for name in (self.schema.encode("utf-8"), self.table.encode("utf-8"))
        )
        return names + struct.pack(f">h{len(self.columns)}h", len(self.columns), *self.columns)


def begin_rows(file: BinaryIO, layout: Layout) -> None:
    """Begin on a file of rows of a snapshot, which are lines of COPY."""
    file.write(_ROWS + layout.encoded())


class ChangesFile:
    """A file of changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("wb")
        self._file.write(_CHANGES)
        self._layouts: dict[int, Layout] = {}
        self.changes = 0

    def add(self, relation: int, layout: Layout, time_ms: int, skips: int, message: bytes) -> None:
        """Add a change: a message of pgoutput about the table with the id ``relation``."""
        if self._layouts.get(relation) is not layout:
            self._layouts[relation] = layout
            self._file.write(_ID.pack(_LAYOUT, relation) + layout.encoded())
        self._file.write(_HEAD.pack(_MESSAGE, time_ms, skips, len(message)))
        self._file.write(message)
        self.changes += 1

    def close(self) -> Sequence[Path]:
        """Finish the file; no file where nothing was added."""
        self._file.close()
        if self.changes:
            return [self.path]
        self.path.unlink()
        return []

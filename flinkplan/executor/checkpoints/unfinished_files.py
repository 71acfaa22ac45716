"""The files that Flink's sink of files had not finished at a savepoint: hidden ones, of which rows belong to the job.

Sources: Flink's ``BucketStateSerializer``, ``OutputStreamBasedPartFileWriter`` and ``LocalRecoverableSerializer``.
"""

from __future__ import annotations

import os
import shutil
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...plan.nodes import Sink
from ...plan.record import Record
from ...state.form import VALUE, JobState, StateTable
from ...state.moving import NotMovedError
from ..connectors.tables import Table

BUCKETS = "bucket-states"
"""The name of the state in which the sink keeps its files."""

PART_NUMBER = "max-part-counter"
"""That of the state which files are numbered by, which nobody else needs."""

_BUCKET, _IN_PROGRESS, _PENDING, _LOCAL = 0x1E764B79, 0xB3A4073D, 0x2C853C89, 0x1E744B57
_BUCKET_VERSION = 2
_CHUNK = 1 << 20


class UnfinishedFile(Record):
    """The first ``size`` bytes of the file ``hidden`` belong to the file ``target``."""

    hidden: Path
    target: Path
    size: int

    @property
    def is_finished(self) -> bool:
        """Whether Flink has finished it since, or nothing is in it."""
        return self.target.exists() or not self.size

    def finish(self) -> None:
        """Copy it, so that Flink could still go on from the savepoint."""
        with (
            self.hidden.open("rb") as source,
            tempfile.NamedTemporaryFile(prefix=".moved-", dir=self.target.parent, delete=False) as copy,
        ):
            left = self.size
            while left and (chunk := source.read(min(left, _CHUNK))):
                left -= copy.write(chunk)
            copy.flush()
            os.fsync(copy.fileno())
        shutil.copymode(self.hidden, copy.name)
        Path(copy.name).replace(self.target)


def unfinished_files(sink: Sink, table: Table, state: JobState, states: StateTable) -> list[UnfinishedFile]:
    """The files of a sink that have rows and are not finished.

    Raises :class:`NotMovedError` where they are not known, not there, or not in the table's directory.
    """
    where = f"table {table.identifier} (node {sink.id})"
    try:
        files = [file for element in _elements(state, states) for file in _files(element)]
    except (ValueError, struct.error, UnicodeDecodeError):
        raise NotMovedError(
            "the files that Flink has not finished are not on a local disk, or not known",
            where=where,
            hint="take the savepoint after Flink has finished them",
        ) from None
    root = Path(table.options["path"].removeprefix("file:")).absolute()
    for file in files:
        if not all(path.resolve().is_relative_to(root.resolve()) for path in (file.hidden, file.target)):
            raise NotMovedError(f"the file {file.hidden} is not in the directory of the table", where=where)
        if not file.is_finished and (not file.hidden.is_file() or file.hidden.stat().st_size < file.size):
            raise NotMovedError(f"the file {file.hidden}, which Flink has not finished, is gone", where=where)
    return [file for file in files if not file.is_finished]


def _elements(state: JobState, states: StateTable) -> Iterator[bytes]:
    return (bytes(row["value"][VALUE]) for batch in state.batches(states) for row in batch.to_pylist())


class _Input:
    """Reads what Java has written.  Raises :class:`ValueError` where something else stands there."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0

    def take(self, length: int) -> bytes:
        if length < 0 or self._at + length > len(self._content):
            raise ValueError(length)
        self._at += length
        return self._content[self._at - length : self._at]

    def number(self, format_: str) -> Any:
        (value,) = struct.unpack(format_, self.take(struct.calcsize(format_)))
        return value

    def expect(self, number: int, format_: str = ">I") -> None:
        if self.number(format_) != number:
            raise ValueError(number)

    def text(self) -> None:
        self.take(self.number(">H"))

    def versioned(self) -> tuple[int, _Input]:
        """A version, and what was written by it."""
        version = self.number(">i")
        return version, _Input(self.take(self.number(">i")))


def _files(element: bytes) -> Iterator[UnfinishedFile]:
    """The files of a bucket."""
    version, bucket = _Input(element).versioned()
    if version != _BUCKET_VERSION:
        raise ValueError(version)
    bucket.expect(_BUCKET)
    bucket.versioned()
    bucket.text()
    bucket.number(">q")
    if bucket.number(">?"):
        in_progress, file = bucket.versioned()
        yield _file(in_progress, file, _IN_PROGRESS)
    pending = bucket.number(">i")
    for _ in range(bucket.number(">i")):
        bucket.number(">q")
        for _ in range(bucket.number(">i")):
            yield _file(pending, _Input(bucket.take(bucket.number(">i"))), _PENDING)


def _file(version: int, content: _Input, magic: int) -> UnfinishedFile:
    content.expect(magic)
    if version > 1:
        if content.number(">?"):
            content.text()
        if magic == _PENDING:
            content.number(">q")
    _, local = content.versioned()
    local.expect(_LOCAL, "<I")
    size = local.number("<q")
    target, hidden = local.number("<i"), local.number("<i")
    return UnfinishedFile(target=Path(local.take(target).decode()), hidden=Path(local.take(hidden).decode()), size=size)

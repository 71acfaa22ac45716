"""Where a stream of a table's snapshots is, which Spark keeps in its checkpoint and asks for from the driver's Java."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, Protocol, TypeAlias

from ...plan.printable import shortened
from ...plan.record import Record
from ..errors import TableError

Snapshot: TypeAlias = int
"""A version of a Delta table, or the id of a snapshot of an Iceberg table."""


class StoredFile(Record):
    """A Parquet file of a table: the texts of its partition by column, as far as the file itself does not have it."""

    path: str
    bytes: int
    partition: Mapping[str, str | None]


def local_file(path: str) -> Path | None:
    """The file of this machine at a path of a log, whose characters stand for themselves; ``None``: it is elsewhere."""
    plain = path.removeprefix("file://").removeprefix("file:")
    return Path(plain) if plain.startswith("/") else None


class Changes(Protocol):
    """The snapshots of a table that is read as it grows.  All methods raise :class:`TableError`."""

    interval: float
    """How many seconds there are at least between two looks for new snapshots."""

    begins_whole: bool
    """Whether all rows of the table come first."""

    def first(self) -> Snapshot | None:
        """The last snapshot that is not read where the table does not come first; ``None``: all are."""

    def newest(self) -> Snapshot | None:
        """The newest snapshot; ``None``: there is none."""

    def next(self, after: Snapshot | None, newest: Snapshot) -> Snapshot:
        """The snapshot up to which a batch reads that begins behind ``after``."""

    def behind(self, after: Snapshot | None, newest: Snapshot) -> int:
        """How many snapshots there are behind ``after``."""

    def whole(self, snapshot: Snapshot) -> list[StoredFile]:
        """All files of a snapshot."""

    def added(self, after: Snapshot | None, to: Snapshot) -> list[StoredFile]:
        """The files that the snapshots behind one and up to another have added."""

    def forget(self) -> None:
        """Remove the temporary files that were made for batches up to now."""


class Positions:
    """Answers where a stream of a table begins, how far it can be read, and which files are between two positions.

    A position has the snapshot up to which all is ``read``; of the batch that ends there the snapshot ``from`` which on
    it reads, or that it reads the ``whole`` table; and whether the batch without rows has come that follows one with
    some.  Where the first batch begins is in the position of its end: the table may have changed when it is run again.
    ``settles``: each batch with rows is followed by one without, in which the watermark takes effect.  ``tells_lag``:
    somebody looks at how many snapshots are still to be read.
    """

    def __init__(self, name: str, changes: Changes, settles: bool, *, tells_lag: bool = False) -> None:
        self._name = name
        self._changes = changes
        self._settles = settles
        self._tells_lag = tells_lag
        self._target: Snapshot | None = None
        self._stops = False
        self._newest: Snapshot | None = None
        self._looked: float | None = None

    def initial(self) -> dict[str, Any]:
        """Where reading begins."""
        read = None if self._changes.begins_whole else self._changes.first()
        return _position(read, read, is_whole=False, is_settled=True)

    def stop_at_what_is_there(self) -> None:
        """Have nothing read that comes later."""
        self._target, self._stops = self._changes.newest(), True

    def latest(self, start: dict[str, Any]) -> dict[str, Any]:
        """How far can be read from a position on."""
        newest, read = self._look(), _snapshot(start["read"])
        if newest is None or newest == read:
            return _position(read, read, is_whole=False, is_settled=True)
        if read is None and self._changes.begins_whole:
            return _position(None, newest, is_whole=True, is_settled=not self._settles)
        return _position(read, self._changes.next(read, newest), is_whole=False, is_settled=not self._settles)

    def _look(self) -> Snapshot | None:
        if self._stops:
            return self._target
        if self._looked is None or monotonic() - self._looked >= self._changes.interval:
            self._newest, self._looked = self._changes.newest(), monotonic()
        return self._newest

    def between(self, start: dict[str, Any], end: dict[str, Any]) -> list[StoredFile]:
        """The files of the batch that ends at a position."""
        first, last = _snapshot(end["from"]), _snapshot(end["read"])
        if last is None or last == first:
            return []
        return self._changes.whole(last) if end["whole"] else self._changes.added(first, last)

    def waiting(self, position: dict[str, Any]) -> dict[str, str]:
        """What the source waits for: nothing."""
        return {}

    def lag(self, position: dict[str, Any]) -> dict[str, int]:
        """How many snapshots are behind a position, of those that were there at the last look."""
        if not self._tells_lag or not position or (newest := self._look()) is None:
            return {}
        return {self._name: self._changes.behind(_snapshot(position["read"]), newest)}

    def commit(self, end: dict[str, Any]) -> None:
        """Leave nothing of the batches up to a position."""
        self._changes.forget()

    def close(self) -> None:
        """Look again when somebody asks again."""
        self._looked = None


def files_now(changes: Changes) -> Sequence[StoredFile]:
    """The files of a table that grows, as far as they are there now."""
    newest = changes.newest()
    if newest is None:
        return []
    if changes.begins_whole:
        return changes.whole(newest)
    first = changes.first()
    return [] if first == newest else changes.added(first, newest)


def _snapshot(value: object) -> Snapshot | None:
    """A snapshot as a checkpoint has it.  Raises :class:`TableError` for anything else."""
    if value is None or (isinstance(value, int) and -1 <= value < 1 << 63):
        return value
    raise TableError(f"the checkpoint has no snapshot, but {shortened(str(value))}")


def _position(start: Snapshot | None, read: Snapshot | None, *, is_whole: bool, is_settled: bool) -> dict[str, Any]:
    """A position as a checkpoint has it, see :class:`Positions`."""
    return {"from": start, "read": read, "whole": is_whole, "settled": is_settled}

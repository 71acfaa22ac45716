"""Local copies of the data files of tables in an object store, which Spark reads as it reads those of local tables."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import BinaryIO

from ..errors import TableError
from ..scratch import temporary_folder
from .positions import Changes, Snapshot, StoredFile, local_file


class Copies:
    """Copies files once; ``open_file`` opens a file of the table by its URI, ``check`` comes before the first one.

    Raises :class:`TableError` of the table that ``where`` names.
    """

    def __init__(self, open_file: Callable[[str], BinaryIO], check: Callable[[], None], where: str) -> None:
        self._open_file, self._check, self._where = open_file, check, where
        self._folder: Path | None = None
        self._numbers = count()
        self._copied: dict[str, Path] = {}

    def of(self, files: Iterable[StoredFile]) -> list[StoredFile]:
        """The files, those that are elsewhere as copies of theirs."""
        return [self._local(file) for file in files]

    def _local(self, file: StoredFile) -> StoredFile:
        if local_file(file.path) is not None:
            return file
        if file.path not in self._copied:
            if self._folder is None:
                self._check()
                self._folder = temporary_folder("lake-")
            path = self._folder / f"{next(self._numbers)}.parquet"
            try:
                with self._open_file(file.path) as source, path.open("wb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
            except OSError as e:
                raise TableError(f"{file.path} cannot be copied: {e}", where=self._where) from None
            self._copied[file.path] = path
        path = self._copied[file.path]
        return StoredFile(f"file://{path}", path.stat().st_size, file.partition)

    def remove(self) -> None:
        """Remove the copies that there are."""
        for path in self._copied.values():
            path.unlink(missing_ok=True)
        self._copied = {}


class CopiedChanges:
    """As :class:`Changes`, of a table in an object store: its files are copied as a batch reads them."""

    def __init__(self, changes: Changes, copies: Copies) -> None:
        self._changes, self._copies = changes, copies
        self.interval, self.begins_whole = changes.interval, changes.begins_whole

    def first(self) -> Snapshot | None:
        """As :meth:`Changes.first`."""
        return self._changes.first()

    def newest(self) -> Snapshot | None:
        """As :meth:`Changes.newest`."""
        return self._changes.newest()

    def next(self, after: Snapshot | None, newest: Snapshot) -> Snapshot:
        """As :meth:`Changes.next`."""
        return self._changes.next(after, newest)

    def behind(self, after: Snapshot | None, newest: Snapshot) -> int:
        """As :meth:`Changes.behind`."""
        return self._changes.behind(after, newest)

    def whole(self, snapshot: Snapshot) -> list[StoredFile]:
        """As :meth:`Changes.whole`."""
        return self._copies.of(self._changes.whole(snapshot))

    def added(self, after: Snapshot | None, to: Snapshot) -> list[StoredFile]:
        """As :meth:`Changes.added`."""
        return self._copies.of(self._changes.added(after, to))

    def forget(self) -> None:
        """As :meth:`Changes.forget`."""
        self._copies.remove()
        self._changes.forget()

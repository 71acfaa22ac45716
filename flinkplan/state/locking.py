"""Locks on checkpoints: jobs hold them while they run, and commands while they read or change a stopped job's."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .checkpoint import CheckpointInUseError, CheckpointRecord
from .form import StateError


@contextmanager
def held(record: CheckpointRecord) -> Iterator[None]:
    """Keep jobs and other commands away from a checkpoint.

    The lock ends with this process, however that ends.  There are none on Windows and on other file systems.

    Raises :class:`CheckpointInUseError` where another process holds it, and :class:`StateError` where the file of the
    lock cannot be written.
    """
    file = record.lock_file
    if sys.platform == "win32" or file is None:
        yield
        return
    import fcntl

    path = file.absolute()
    if path in _HELD:
        raise CheckpointInUseError(record)
    try:
        opened = path.open("a+b")
    except OSError as e:
        raise StateError(f"the checkpoint cannot be locked: {e.strerror}", where=str(path)) from None
    with opened:
        try:
            fcntl.lockf(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            raise CheckpointInUseError(record) from None
        _HELD.add(path)
        try:
            yield
        finally:
            _HELD.discard(path)


_HELD: set[Path] = set()
"""The files on which this process holds a lock, which closing any file object of theirs would end."""

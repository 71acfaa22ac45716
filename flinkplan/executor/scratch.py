"""The folder of this process's temporary files; those of processes that were killed are removed by later ones.

A folder is its owners' as long as one of them holds the lock on a file in it: this process, and the JVM that it starts,
which inherits the lock.  So a folder is removed only when both have ended, however that came.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from threading import Lock, Thread

from .errors import TableError
from .processes import end_needed, is_running

_PREFIX = "flinkplan-"
_OWNED, _NEW = ".owned", ".new"


class Scratch:
    """A new temporary folder; ``lock`` is the descriptor that holds it, ``None`` where there are no locks."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self.lock = _locked(self.folder)

    def remove(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.lock is not None:
            os.close(self.lock)
            self.lock = None


_guard = Lock()
_current: Scratch | None = None


def scratch() -> Scratch:
    """That of this process; a new one where the JVM that it was shared with has taken it along.

    Raises :class:`TableError` where none can be made.
    """
    try:
        return _scratch()
    except OSError as e:
        raise TableError(
            f"there is no place for temporary files: {e.strerror or e}",
            where=e.filename or os.environ.get("TMPDIR"),
            hint="let TMPDIR name a folder that can be written to and has room",
        ) from None


def _scratch() -> Scratch:
    global _current
    with _guard:
        if _current is None or not _current.folder.is_dir():
            if _current is None:
                atexit.register(_at_exit)
                Thread(target=remove_abandoned, args=(Path(tempfile.gettempdir()),), daemon=True).start()
            else:
                _current.remove()
            _current = Scratch()
        return _current


def temporary_folder(prefix: str) -> Path:
    """A new folder in that of this process."""
    return Path(tempfile.mkdtemp(prefix=prefix, dir=scratch().folder))


def _at_exit() -> None:
    if _current is not None and _current.owner == os.getpid():  # and not a process that was forked from it
        end_needed()
        remove_scratch()


def remove_scratch() -> None:
    """Remove the folder of this process, unless its JVM still runs, which does it as it ends."""
    global _current
    with _guard:
        if _current is not None and not is_running():
            _current.remove()
            _current = None


def remove_abandoned(parent: Path) -> None:
    """Remove the folders in ``parent`` that belong to this user and whose owners have all ended."""
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(parent)):
            if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
                _remove_if_abandoned(Path(entry.path))


def _remove_if_abandoned(folder: Path) -> None:
    if os.name != "posix" or folder.stat().st_uid != os.getuid():
        return
    try:
        lock = os.open(folder / _OWNED, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return  # not one of these folders, or one that is being made or removed
    try:
        if _take(lock):
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


def _locked(folder: Path) -> int | None:
    """Put a locked file into a folder: it has its name only when it is locked."""
    if os.name != "posix":
        return None
    lock = os.open(folder / _NEW, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    if not _take(lock):
        os.close(lock)
        return None
    (folder / _NEW).rename(folder / _OWNED)
    return lock


def _take(lock: int) -> bool:
    import fcntl

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

"""Writes the files that users name."""

from __future__ import annotations

import os
import re
import stat
import sys
from pathlib import Path

from .errors import PlanError

EMPTY_PATH = "the path is empty"
IS_DIRECTORY = "this is a directory, not a file"

_DESCRIPTORS = re.compile(r"/proc/(?:self|\d+)(?:/task/\d+)?/fd")
_MAX_SYMLINKS = 40


def write_text(path: str | Path, text: str, *, durable: bool = True) -> None:
    """Write a text to a file atomically, and unless it is not to be ``durable``, so that it survives a crash.

    A symbolic link is followed.  A file that is replaced keeps its mode, and its owner if this process may set it.
    Anything that is not a regular file is written to in place: devices, pipes, and the file descriptors of this
    process, such as ``/dev/stdout``.

    Raises :class:`PlanError` if it cannot be written.
    """
    if not str(path):
        raise PlanError(EMPTY_PATH, hint="name a file")
    try:
        target = _resolved(Path(path))
        number = _descriptor(target)
        if number is not None:
            sys.stdout.flush()
            _write_into(os.dup(number), text)
        elif target.exists() and not target.is_file():
            _write_into(os.open(target, os.O_WRONLY), text)
        else:
            _replace(target, text, durable)
    except IsADirectoryError:
        raise PlanError(IS_DIRECTORY, where=str(path), hint="name a file in it") from None
    except (FileExistsError, NotADirectoryError):
        hint = f"'{Path(path).parent}' is not a directory"
        raise PlanError("the file cannot be written", where=str(path), hint=hint) from None
    except OSError as e:
        raise PlanError(f"the file cannot be written: {e.strerror or e}", where=str(path)) from None


def replaces(path: str | Path) -> bool:
    """Whether :func:`write_text` would replace an existing file."""
    try:
        target = _resolved(Path(path))
        return target.is_file() and _descriptor(target) is None
    except OSError:
        return False  # write_text reports the error


def _resolved(path: Path) -> Path:
    """The target of symbolic links; the link of a file descriptor is not followed to the file that it has opened."""
    for _ in range(_MAX_SYMLINKS):
        if not path.is_symlink() or _is_descriptor(path):
            return path
        path = path.parent / path.readlink()
    return path


def _is_descriptor(path: Path) -> bool:
    return _DESCRIPTORS.fullmatch(os.path.realpath(path.parent)) is not None


def _descriptor(path: Path) -> int | None:
    """The number of a file descriptor of this process, if the path names one."""
    is_own = os.path.realpath(path.parent) == os.path.realpath("/proc/self/fd")
    return int(path.name) if is_own and path.name.isdigit() else None


def _write_into(descriptor: int, text: str) -> None:
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write(text)


def _replace(target: Path, text: str, durable: bool) -> None:
    import tempfile

    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:200]}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            _copy_owner_and_mode(target, handle)
            if durable:
                os.fsync(handle)
        Path(name).replace(target)
        if durable:
            _sync_folder(target.parent)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _copy_owner_and_mode(target: Path, handle: int) -> None:
    """Give the temporary file the owner and mode of the file that it will replace, or those of a new file."""
    if os.name != "posix":
        return
    try:
        replaced = target.stat()
    except FileNotFoundError:
        os.fchmod(handle, 0o666 & ~_umask())
        return
    temporary = os.fstat(handle)
    for uid, gid in ((replaced.st_uid, replaced.st_gid), (-1, replaced.st_gid)):
        try:
            if (temporary.st_uid, temporary.st_gid) != (replaced.st_uid, replaced.st_gid):
                os.fchown(handle, uid, gid)
            break
        except PermissionError:
            continue  # a user may still set the group to another of their groups
    os.fchmod(handle, stat.S_IMODE(replaced.st_mode) & 0o777)


def _sync_folder(folder: Path) -> None:
    """Flush the directory entry of the new file to disk."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        pass  # not every file system supports it for folders
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

"""Writing the files that users name."""

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
_MOST_LINKS = 40


def write_text(path: str | Path, text: str) -> None:
    """Write a text to a file, which appears whole or not at all, and stays where the machine fails.

    A symbolic link stays one: what it leads to is written.  A file that is replaced keeps its mode, and its owner where
    this process may set it.  What is no regular file is not replaced but written into: devices, pipes, and the
    descriptors of this process, such as ``/dev/stdout``.

    Raises :class:`PlanError` where it cannot be written.
    """
    if not str(path):
        raise PlanError(EMPTY_PATH, hint="name a file")
    try:
        target = _followed(Path(path))
        number = _descriptor(target)
        if number is not None:
            sys.stdout.flush()
            _write_into(os.dup(number), text)
        elif target.exists() and not target.is_file():
            _write_into(os.open(target, os.O_WRONLY), text)
        else:
            _replace(target, text)
    except IsADirectoryError:
        raise PlanError(IS_DIRECTORY, where=str(path), hint="name a file in it") from None
    except (FileExistsError, NotADirectoryError):
        hint = f"'{Path(path).parent}' is not a directory"
        raise PlanError("the file cannot be written", where=str(path), hint=hint) from None
    except OSError as e:
        raise PlanError(f"the file cannot be written: {e.strerror or e}", where=str(path)) from None


def replaces(path: str | Path) -> bool:
    """Whether :func:`write_text` would take away what is in a file now."""
    try:
        target = _followed(Path(path))
        return target.is_file() and _descriptor(target) is None
    except OSError:
        return False  # nor can it be written, which says why


def _followed(path: Path) -> Path:
    """What a path leads to by symbolic links, which for a descriptor is not the file that it has opened."""
    for _ in range(_MOST_LINKS):
        if not path.is_symlink() or _is_descriptor(path):
            return path
        path = path.parent / path.readlink()
    return path


def _is_descriptor(path: Path) -> bool:
    return _DESCRIPTORS.fullmatch(os.path.realpath(path.parent)) is not None


def _descriptor(path: Path) -> int | None:
    """The number of a descriptor of this process."""
    own = os.path.realpath(path.parent) == os.path.realpath("/proc/self/fd")
    return int(path.name) if own and path.name.isdigit() else None


def _write_into(descriptor: int, text: str) -> None:
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write(text)


def _replace(target: Path, text: str) -> None:
    import tempfile

    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:200]}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            _take_over(target, handle)
            os.fsync(handle)
        Path(name).replace(target)
        _keep_names(target.parent)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _take_over(target: Path, handle: int) -> None:
    """Give a new file the owner and the mode of the one that it is to replace, or those of new files."""
    if os.name != "posix":
        return
    try:
        before = target.stat()
    except FileNotFoundError:
        os.fchmod(handle, 0o666 & ~_umask())
        return
    mine = os.fstat(handle)
    for uid, gid in ((before.st_uid, before.st_gid), (-1, before.st_gid)):
        try:
            if (mine.st_uid, mine.st_gid) != (before.st_uid, before.st_gid):
                os.fchown(handle, uid, gid)
            break
        except PermissionError:
            continue  # the group alone may be another one of this user's
    os.fchmod(handle, stat.S_IMODE(before.st_mode) & 0o777)


def _keep_names(folder: Path) -> None:
    """Have the disk know the names in a folder."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        pass  # not every file system does it for folders
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

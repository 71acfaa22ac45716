"""Jars that are made on first use: where they are kept, and which are run."""

from __future__ import annotations

import os
import stat
import zipfile
from functools import lru_cache
from pathlib import Path

from .plan import files
from .plan.errors import FlinkplanError

_STALE_SECONDS = 3600


class JarError(FlinkplanError):
    """A jar of our own cannot be made, or is not to be trusted."""


def cache() -> Path:
    """The folder of what is made on first use.  Raises :class:`JarError` where there is no place for one."""
    base = os.environ.get("FLINKPLAN_CACHE") or os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "flinkplan"
    except RuntimeError:
        raise JarError("there is no home directory", hint="set FLINKPLAN_CACHE to a folder") from None


def check_owner(jar: Path) -> None:
    """Raises :class:`JarError` for a jar that somebody else may have put there."""
    foreign = written_by_others(jar)
    if foreign is not None:
        raise JarError(
            f"others may have put something into {foreign}, which is not run",
            hint="let FLINKPLAN_CACHE name a folder that you alone can write to",
        )


def written_by_others(file: Path) -> Path | None:
    """The file or its folder, if it is not one's own or the administrator's, as what is run must be."""
    if os.name != "posix":
        return None
    for path in (file.parent, file):
        status = path.stat()
        by_group = status.st_mode & stat.S_IWGRP and status.st_gid not in (os.getgid(), 0)
        if status.st_uid not in (os.getuid(), 0) or status.st_mode & stat.S_IWOTH or by_group:
            return path
    return None


def is_whole(jar: Path) -> bool:
    """Whether a file is a jar of which nothing is missing; it is read again only when it has changed."""
    try:
        status = jar.stat()
    except OSError:
        return False
    return _is_whole(jar, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=16)
def _is_whole(jar: Path, modified: int, size: int) -> bool:
    try:
        with zipfile.ZipFile(jar) as archive:
            return archive.testzip() is None
    except (OSError, zipfile.BadZipFile):
        return False


def pack(classes: Path, jar: Path) -> None:
    """Put the classes in a folder, and the files beside them, into a jar."""
    with zipfile.ZipFile(jar, "w") as archive:
        for path in sorted(path for path in classes.rglob("*") if path.is_file()):
            archive.write(path, path.relative_to(classes))


def remove_stale(folder: Path, prefix: str) -> None:
    """Remove what was being made in folders of this prefix by processes that were killed, an hour later."""
    files.remove_stale(folder, prefix, _STALE_SECONDS)

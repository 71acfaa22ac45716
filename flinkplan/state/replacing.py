"""Folders that take the place of others at once: the one is there, or the other, and never a part of either."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .form_folder import new_folder

_EXCHANGE = 2
"""``RENAME_EXCHANGE`` of Linux."""
_HERE = -100
"""``AT_FDCWD``: paths are those of the process."""

_REPLACEMENT = ".replacement"
"""A file in a folder that is to take the place of another; a backup never has it."""


@contextmanager
def replacing(folder: Path, backup: Path) -> Iterator[Path]:
    """A new folder, to be filled, that takes the place of ``folder`` at the end; that one then becomes ``backup``.

    A kill leaves ``folder`` as it was or replaced.  If it comes just before the two change places, ``backup`` is the
    replacement; :func:`free_backup` removes that.

    Raises :class:`.form.StateError` where nothing can be written.
    """
    with new_folder(backup) as work:
        yield work
        (work / _REPLACEMENT).touch()
    exchange(backup, folder)
    (folder / _REPLACEMENT).unlink(missing_ok=True)


def free_backup(folder: Path) -> Path:
    """The path of a backup beside a folder that is not there yet: ``checkpoint.backup-1``.

    A replacement that was left there by a killed process is removed.
    """
    number = 1
    while (backup := folder.with_name(f"{folder.name}.backup-{number}")).exists():
        if (backup / _REPLACEMENT).exists():
            shutil.rmtree(backup, ignore_errors=True)
        else:
            number += 1
    return backup


def exchange(one: Path, other: Path) -> None:
    """Have two folders change places: at once where the system can, else one after the other."""
    if _exchanged(one, other):
        return
    aside = other.with_name(f"{other.name}.aside")
    other.rename(aside)
    one.rename(other)
    aside.rename(one)


def _exchanged(one: Path, other: Path) -> bool:
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    return bool(rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0)

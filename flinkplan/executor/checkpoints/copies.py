"""Copies of checkpoints, and putting one in the place of another."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ...plan.output import write_text
from ...state.checkpoint import CheckpointRecord
from ...state.form import StateError

_SCHEMAS = "_stateSchema"
_EXCHANGE = 2
"""``RENAME_EXCHANGE`` of Linux."""
_HERE = -100
"""``AT_FDCWD``: paths are those of the process."""


def local_folder(record: CheckpointRecord) -> Path:
    """The folder of a checkpoint.  Raises :class:`StateError` where it is not on a local disk, or not there."""
    folder = record.place.local
    if folder is None:
        raise StateError(
            "only a checkpoint on a local disk can be changed", where=str(record.folder), hint="copy it to a local disk"
        )
    if not record.exists:
        raise StateError("there is no checkpoint of flinkplan here", where=str(folder))
    return folder.absolute()


def copy_checkpoint(source: Path, target: Path) -> None:
    """Copy a checkpoint into the empty folder ``target``, which is then one of its own."""
    shutil.copytree(source, target, dirs_exist_ok=True)
    relocate(target, target)


def relocate(folder: Path, home: Path, queries: str = "*/") -> None:
    """Have the checkpoint in ``folder``, whose queries stand at ``queries``, say that it stands at ``home``.

    Spark's description of each operator names the files that hold the schemas of its states by their whole paths.
    """
    for file in folder.glob(f"{queries}state/*/_metadata/v2/*"):
        if not file.name.isdecimal():
            continue
        version, _, text = file.read_text("utf-8").partition("\n")
        metadata = json.loads(text)
        state = home.absolute() / file.relative_to(folder).parents[2]
        if _relocate(metadata, state):
            write_text(file, f"{version}\n{json.dumps(metadata, separators=(',', ':'))}")
            file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def _relocate(metadata: Any, operator: Path) -> bool:
    """Set the paths of schemas in the description of an operator that stands at ``operator``; whether one changed."""
    changed = False
    for store in metadata.get("stateStoreInfo", ()):
        paths = store.get("stateSchemaFilePaths", [])
        moved = [_moved(path, operator) for path in paths]
        changed |= moved != paths
        if paths:
            store["stateSchemaFilePaths"] = moved
    return changed


def _moved(path: str, operator: Path) -> str:
    _, separator, rest = path.rpartition(f"/{_SCHEMAS}/")
    return f"file:{quote(str(operator))}/{_SCHEMAS}/{rest}" if separator else path


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


def free_name(folder: Path, suffix: str) -> Path:
    """The path of a folder beside another that is not there yet: ``checkpoint.backup-1``."""
    number = 1
    while (copy := folder.with_name(f"{folder.name}.{suffix}-{number}")).exists():
        number += 1
    return copy

"""Copies of checkpoints."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ...plan.output import write_text
from ...state.checkpoint import CheckpointRecord
from ...state.form import StateError
from ..prepare.job_plan import queries_of

_SCHEMAS = "_stateSchema"


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


def stateful_queries(record: CheckpointRecord) -> list[str]:
    """The queries of a stopped job that have state, each at the end of a batch.

    Raises :class:`StateError` where nothing can be changed: a query is within a batch, or none goes on with state.
    """
    names = list(queries_of(record.plan()))
    record.check(names)
    where = str(record.folder)
    if record.has_ended:
        raise StateError("the job of this checkpoint has ended its input", where=where)
    stateful = [name for name in names if (record.query(name) / "state").is_folder()]
    if not stateful:
        raise StateError("no query of this checkpoint has state", where=where)
    for name in stateful:
        if record.is_batch_open(name):
            raise StateError(
                f"the last batch of the sink {name} has not ended",
                where=where,
                hint="let the job go on once, with --mode available-now",
            )
    return stateful


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

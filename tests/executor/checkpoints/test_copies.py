"""Copies of checkpoints say where they stand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flinkplan.executor.checkpoints.copies import copy_checkpoint, local_folder, relocate
from flinkplan.state.checkpoint import CheckpointRecord
from flinkplan.state.form import StateError


def _described(checkpoint: Path, *paths: str) -> Path:
    """A checkpoint with the description of one operator, whose schemas stand at these paths."""
    file = checkpoint / "o" / "state" / "0" / "_metadata" / "v2" / "0"
    file.parent.mkdir(parents=True)
    metadata = {"stateStoreInfo": [{"storeName": "default", "stateSchemaFilePaths": list(paths)}]}
    file.write_text(f"v2\n{json.dumps(metadata)}")
    return file


def _paths(file: Path) -> Any:
    version, _, text = file.read_text().partition("\n")
    assert version == "v2"
    return json.loads(text)["stateStoreInfo"][0]["stateSchemaFilePaths"]


def test_a_copy_finds_its_own_schemas(tmp_path: Path) -> None:
    source, target = tmp_path / "a", tmp_path / "b c"
    _described(source, f"file:{source}/o/state/0/_stateSchema/default/0_1")
    target.mkdir()
    copy_checkpoint(source, target)
    assert _paths(target / "o/state/0/_metadata/v2/0") == [
        f"file:{tmp_path}/b%20c/o/state/0/_stateSchema/default/0_1",
    ]


def test_checksums_of_what_is_changed_go(tmp_path: Path) -> None:
    file = _described(tmp_path, "file:/old/o/state/0/_stateSchema/default/0_1", "file:/elsewhere")
    checksum = file.with_name(".0.crc")
    checksum.write_bytes(b"crc")
    relocate(tmp_path, Path("/new"))
    assert _paths(file) == ["file:/new/o/state/0/_stateSchema/default/0_1", "file:/elsewhere"]
    assert not checksum.exists()
    relocate(tmp_path, Path("/new"))
    checksum.write_bytes(b"crc")
    relocate(tmp_path, Path("/new"))
    assert checksum.exists()


def test_checkpoints_elsewhere_and_folders_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="only a checkpoint on a local disk can be changed"):
        local_folder(CheckpointRecord("memory://checkpoint"))
    with pytest.raises(StateError, match="no checkpoint of flinkplan here"):
        local_folder(CheckpointRecord(tmp_path))

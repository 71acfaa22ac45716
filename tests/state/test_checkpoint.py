"""The record of a checkpoint, as far as it is known without Spark."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from flinkplan.state.checkpoint import CheckpointRecord, DamagedCheckpointError


def checkpoint(folder: Path, ends: list[int], logs: Mapping[int, int]) -> CheckpointRecord:
    """A checkpoint of the sink ``s``: how far each place reads its files, and how many lists each source has."""
    query = folder / "s"
    (query / "offsets").mkdir(parents=True)
    (query / "commits").mkdir()
    (query / "metadata").write_text(json.dumps({"id": "1"}))
    positions = [json.dumps({"logOffset": end}) for end in ends]
    (query / "offsets" / "0").write_text("\n".join(["v1", "{}", *positions]))
    (query / "commits" / "0").write_text("v1\n{}")
    for source, lists in logs.items():
        (query / "sources" / str(source)).mkdir(parents=True)
        for number in range(lists):
            (query / "sources" / str(source) / str(number)).write_text("v1\n{}")
    return CheckpointRecord(folder)


def test_a_source_that_is_read_in_two_places_has_one_list_of_its_files(tmp_path: Path) -> None:
    checkpoint(tmp_path, [2, 2, 0], {0: 3, 1: 1}).check(["s"])


def test_sources_that_have_read_as_many_files_may_be_the_same(tmp_path: Path) -> None:
    checkpoint(tmp_path, [0, 0, 0, 0], {0: 1, 1: 1, 2: 1}).check(["s"])


@pytest.mark.parametrize("logs", [{0: 3, 1: 0}, {0: 3, 1: 2}, {0: 2, 1: 3}])
def test_a_list_of_files_that_is_gone_is_missed(tmp_path: Path, logs: Mapping[int, int]) -> None:
    with pytest.raises(DamagedCheckpointError, match="the list of the files that were read is gone"):
        checkpoint(tmp_path, [2, 2], logs).check(["s"])

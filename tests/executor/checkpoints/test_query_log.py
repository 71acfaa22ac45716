"""How far a query has come is read from Spark's logs as it is written into them."""

from __future__ import annotations

from pathlib import Path

import pytest

from flinkplan.executor.checkpoints.query_log import QueryProgress, copy_sources, read_progress, write_progress
from flinkplan.executor.jvm.session import PARTITIONS
from flinkplan.plan.files import Place
from flinkplan.plan.record import replace
from flinkplan.state.checkpoint import CheckpointRecord
from flinkplan.state.form import StateError

METADATA = {"batchWatermarkMs": 5, "batchTimestampMs": 7, "conf": {PARTITIONS: "2"}}
PROGRESS = QueryProgress(3, ('{"files":1}', None), 9, METADATA)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_progress(tmp_path, PROGRESS, "an-id")
    assert read_progress(Place.of(tmp_path)) == PROGRESS
    assert (tmp_path / "metadata").read_text() == '{"id": "an-id"}'


def test_the_last_batch_that_is_done_counts(tmp_path: Path) -> None:
    write_progress(tmp_path, PROGRESS, "an-id")
    (tmp_path / "offsets" / "4").write_text("v1\n{}\n-\n-")
    assert read_progress(Place.of(tmp_path)).batch == 3


def test_a_query_without_a_batch_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="no batch is done"):
        read_progress(Place.of(tmp_path))


def test_state_may_be_in_other_partitions(tmp_path: Path) -> None:
    changed = PROGRESS.with_partitions(8)
    assert (changed.partitions, PROGRESS.partitions) == (8, 2)
    assert replace(changed, metadata=METADATA) == PROGRESS


def test_what_sources_have_on_record_comes_along(tmp_path: Path) -> None:
    source, target = tmp_path / "a", tmp_path / "b"
    (source / "sources" / "0").mkdir(parents=True)
    (source / "sources" / "0" / "0").write_text("v1")
    target.mkdir()
    copy_sources(source, target)
    assert (target / "sources" / "0" / "0").read_text() == "v1"
    assert not (target / "watermarks").exists()


def test_a_batch_that_is_begun_and_not_done_is_open(tmp_path: Path) -> None:
    record = CheckpointRecord(tmp_path)
    query = tmp_path / "o"
    query.mkdir()
    write_progress(query, PROGRESS, "an-id")
    assert not record.is_batch_open("o")
    (query / "offsets" / "4").write_text("v1\n{}\n-\n-")
    assert record.is_batch_open("o")

"""Copies of checkpoints, of stopped jobs and of running ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from flinkplan.executor.checkpoints import savepoint
from flinkplan.executor.checkpoints.query_log import QueryProgress, write_progress
from flinkplan.executor.checkpoints.savepoint import write_savepoint
from flinkplan.executor.jobs.states import entries, find_states
from flinkplan.executor.jvm.session import PARTITIONS
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan
from flinkplan.planner import compile_script
from flinkplan.state.checkpoint import CheckpointInUseError, CheckpointRecord
from flinkplan.state.form import StateError
from tests.cli.support import flinkplan

from ..jobs import Place, stream_of

SCRIPT = """
CREATE TABLE events (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE sums (k STRING, n BIGINT) WITH (
  'connector' = 'filesystem', 'path' = '{root}/out', 'format' = 'debezium-json');
INSERT INTO sums SELECT k, COUNT(DISTINCT v) FROM events GROUP BY k;
"""


def _plan(root: Path) -> Plan:
    return compile_script(SCRIPT.format(root=root))


def _recorded(folder: Path) -> Path:
    """The checkpoint of a job that has done batch 4, as far as it matters here; the query's folder."""
    record = CheckpointRecord(folder)
    record.prepare()
    record.begin(_plan(folder), "streaming", {})
    query = folder / "sums"
    query.mkdir()
    write_progress(query, QueryProgress(4, (None,), 0, {"conf": {PARTITIONS: "1"}}), "id-1")
    return query


def _write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("v2\n{}")


def _names(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The checkpoint of a job that is within batch 5 and is running, by its lock."""

    def held(record: CheckpointRecord) -> None:
        raise CheckpointInUseError(record)

    monkeypatch.setattr(savepoint, "held", held)
    monkeypatch.setattr(CheckpointRecord, "is_in_use", True)
    query = _recorded(tmp_path / "checkpoint")
    shutil.copy(query / "offsets" / "4", query / "offsets" / "5")
    return tmp_path / "checkpoint"


def _end_batch(checkpoint: Path) -> None:
    shutil.copy(checkpoint / "sums" / "commits" / "4", checkpoint / "sums" / "commits" / "5")


def test_a_batch_that_has_begun_is_waited_for(running: Path, tmp_path: Path) -> None:
    waited = []

    def waiting(name: str, batch: int) -> None:
        waited.append((name, batch))
        _end_batch(running)

    written = write_savepoint(str(running), str(tmp_path / "copy"), waiting)
    assert (waited, written.batches) == ([("sums", 5)], {"sums": 5})
    assert CheckpointRecord(tmp_path / "copy").plan_text() == CheckpointRecord(running).plan_text()
    CheckpointRecord(tmp_path / "copy").check(["sums"])


def test_nothing_of_later_batches_is_copied(running: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _end_batch(running)
    query = running / "sums"

    def another_begins(record: CheckpointRecord, name: str, waiting: object) -> None:
        shutil.copy(query / "offsets" / "4", query / "offsets" / "6")

    monkeypatch.setattr(savepoint, "_await_batch", another_begins)
    kept = {
        *("state/0/0/6.changelog", "state/0/0/6.zip", "state/0/0/6_uuid.changelog", "state/0/0/left/5.zip"),
        *("state/0/0/SSTs/7-a.sst", "state/0/0/_metadata/schema", "state/0/_metadata/v2/0", "state/0/_metadata/v2/5"),
        *("state/0/_stateSchema/default/0_a", "watermarks/5", "sources/0/files/9"),
    }
    later = {
        *("state/0/0/7.changelog", "state/0/0/7.zip", "state/0/0/12_uuid.zip", "state/0/_metadata/v2/6"),
        *("watermarks/6", "state/0/0/.6.zip.tmp", "sources/0/files/.9.tmp"),
    }
    _write(query, *kept, *later)
    (query / "published").write_text('{"batch":"id-1-0000000006","files":[]}')
    assert write_savepoint(str(running), str(tmp_path / "copy")).batches == {"sums": 5}
    progress = {"metadata", "offsets/4", "offsets/5", "commits/4", "commits/5"}
    assert _names(tmp_path / "copy" / "sums") == kept | progress
    (query / "published").write_text('{"batch":"id-1-0000000005","files":[]}')
    shutil.rmtree(tmp_path / "copy")
    write_savepoint(str(running), str(tmp_path / "copy"))
    assert "published" in _names(tmp_path / "copy" / "sums")


def test_a_job_that_is_too_fast_is_refused(running: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _end_batch(running)
    copied = []

    def copy(query: Path, source: Path, work: Path) -> None:
        copied.append(query)
        raise FileNotFoundError

    monkeypatch.setattr(savepoint, "_copy_query", copy)
    with pytest.raises(StateError, match="faster than the copy"):
        write_savepoint(str(running), str(tmp_path / "copy"))
    assert len(copied) > 1
    assert [p.name for p in tmp_path.iterdir()] == ["checkpoint"]


def test_a_stopped_job_s_checkpoint_is_copied_as_it_is(tmp_path: Path) -> None:
    query = _recorded(tmp_path / "checkpoint")
    shutil.copy(query / "offsets" / "4", query / "offsets" / "5")
    _write(query, "state/0/0/6.zip")
    outcome = flinkplan("savepoint", str(tmp_path / "checkpoint"), "-o", str(tmp_path / "copy"))
    assert (outcome.code, outcome.err) == (0, f"sums: batch 4\nwrote {tmp_path}/copy\n")
    assert _names(tmp_path / "copy") == _names(tmp_path / "checkpoint")


def test_what_cannot_be_copied_is_refused(tmp_path: Path) -> None:
    query = _recorded(tmp_path / "checkpoint")

    def refused(message: str, output: str = "copy") -> None:
        with pytest.raises((StateError, CheckpointInUseError), match=message):
            write_savepoint(str(tmp_path / "checkpoint"), str(tmp_path / output))
        assert {p.name for p in tmp_path.iterdir()} <= {"checkpoint", "other"}

    refused("something already", "checkpoint/sums")
    refused("would be a part of the checkpoint", "checkpoint/copy")
    CheckpointRecord(tmp_path / "checkpoint").end()
    refused("has ended its input")
    shutil.rmtree(query.parent)
    refused("no checkpoint of flinkplan here")


@pytest.mark.spark
def test_a_job_goes_on_from_a_copy_that_was_made_while_it_ran(place: Place) -> None:
    plan = _plan(place.root)
    job = place.start(plan, Mode.STREAMING)
    copies = []
    try:
        for number in range(6):
            place.put(f"{number}", *({"k": f"k{i % 3}", "v": i} for i in range(5 * number, 5 * number + 5)))
            if number % 2:
                stream_of(job).handle.processAllAvailable()
            if number in (2, 3, 4):
                copies.append(place.root / f"copy-{number}")
                outcome = flinkplan("savepoint", str(place.root / "checkpoint"), "-o", str(copies[-1]))
                assert outcome.code == 0
        stream_of(job).handle.processAllAvailable()
    finally:
        job.stop()
    expected = _accumulators(place)
    assert expected == {("k0",): 10, ("k1",): 10, ("k2",): 10}
    for copy in copies:
        shutil.rmtree(place.root / "checkpoint")
        copy.rename(place.root / "moved")
        assert flinkplan("savepoint", str(place.root / "moved"), "-o", str(place.root / "checkpoint")).code == 0
        shutil.rmtree(place.root / "moved")
        place.run(plan, Mode.AVAILABLE_NOW)
        assert _accumulators(place) == expected


def _accumulators(place: Place) -> dict[tuple[object, ...], int]:
    (state,) = (state for state in find_states(place.root / "checkpoint") if state.name == "accumulators")
    return {entry.key: list(entry.value.values())[-1]["count"] for entry in entries(place.spark, state, None, 99)}

"""What becomes of a checkpoint whose state is brought into another number of partitions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from flinkplan.executor.checkpoints.query_log import read_progress
from flinkplan.executor.checkpoints.rescale import rescale
from flinkplan.executor.jobs.states import count, find_states
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan
from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner import compile_script
from flinkplan.state.checkpoint import CheckpointRecord

from ..jobs import Place
from ..plans import passthrough

pytestmark = pytest.mark.spark

SCRIPT = """
SET 'table.exec.state.ttl' = '1 h';
CREATE TABLE events (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE sums (k STRING, n BIGINT, d BIGINT) WITH (
  'connector' = 'filesystem', 'path' = '{root}/out/sums', 'format' = 'debezium-json');
CREATE TABLE minutes (k STRING, n BIGINT, t TIMESTAMP(3)) WITH (
  'connector' = 'filesystem', 'path' = '{root}/out/minutes', 'format' = 'debezium-json');
EXECUTE STATEMENT SET BEGIN
INSERT INTO sums SELECT a.k, COUNT(*), COUNT(DISTINCT b.v) FROM events a JOIN events b ON a.id = b.id + 1 GROUP BY a.k;
INSERT INTO minutes SELECT k, COUNT(DISTINCT v), window_end
  FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;
END;
"""


def _plan(place: Place) -> Plan:
    return compile_script(SCRIPT.format(root=place.root))


def _put(place: Place, first: int, last: int) -> None:
    rows = [{"id": i, "k": f"k{i % 5}", "v": i % 7, "ts": f"2024-01-01 00:00:{i:02}"} for i in range(first, last)]
    place.put(str(first), *rows)


def _content(place: Place) -> dict[str, list[str]]:
    """What the sinks hold in the end, by their names."""
    found = {}
    for name in ("sums", "minutes"):
        held: dict[str, int] = {}
        for file in (place.root / "out" / name).iterdir():
            for line in file.read_text().splitlines() if not file.name.startswith(".") else ():
                change = json.loads(line)
                for row, step in ((change["before"], -1), (change["after"], 1)):
                    if row is not None:
                        text = json.dumps(row)
                        held[text] = held.get(text, 0) + step
        found[name] = sorted(text for text, number in held.items() for _ in range(number))
    return found


def test_a_job_goes_on_from_more_partitions_with_the_rows_of_one_that_was_not_stopped(place: Place) -> None:
    plan, checkpoint = _plan(place), place.root / "checkpoint"
    _put(place, 0, 30)
    place.run(plan, Mode.AVAILABLE_NOW)
    states = [(s.sink, s.operator, s.name, count(place.spark, s)) for s in find_states(checkpoint)]
    shutil.copytree(place.root / "out", place.root / "out-before")
    shutil.copytree(checkpoint, place.root / "uninterrupted")

    done = rescale(str(checkpoint), 3, None, place.spark)

    assert {name: after for name, (_, after) in done.partitions.items()} == {"sums": 3, "minutes": 3}
    assert [(s.sink, s.operator, s.name, count(place.spark, s)) for s in find_states(checkpoint)] == states
    assert len(list((checkpoint / "sums" / "state" / "0").glob("[0-9]"))) == 3
    assert done.backup is not None
    assert read_progress(CheckpointRecord(done.backup).query("sums")).partitions == done.partitions["sums"][0] < 3
    shutil.rmtree(done.backup)
    _put(place, 30, 60)
    place.run(plan, Mode.BOUNDED)
    rescaled = _content(place)

    shutil.rmtree(place.root / "out")
    (place.root / "out-before").rename(place.root / "out")
    shutil.rmtree(checkpoint)
    (place.root / "uninterrupted").rename(checkpoint)
    place.run(plan, Mode.BOUNDED)
    assert rescaled == _content(place)
    assert rescaled["sums"] and rescaled["minutes"]


def test_a_checkpoint_is_rescaled_into_another_folder(place: Place) -> None:
    _put(place, 0, 10)
    place.run(_plan(place), Mode.AVAILABLE_NOW)
    before = {p: p.read_bytes() for p in (place.root / "checkpoint").rglob("*") if p.is_file()}
    done = rescale(str(place.root / "checkpoint"), 2, str(place.root / "other"), place.spark)
    assert done.backup is None
    assert {p: p.read_bytes() for p in (place.root / "checkpoint").rglob("*") if p.is_file()} == before
    shutil.rmtree(place.root / "checkpoint")
    assert sum(count(place.spark, state) for state in find_states(place.root / "other")) > 0


def test_what_cannot_be_rescaled_is_refused_and_nothing_is_written(place: Place) -> None:
    checkpoint = place.root / "checkpoint"

    def refused(message: str, output: Path | None = None) -> None:
        with pytest.raises(FlinkplanError, match=message):
            rescale(str(checkpoint), 2, None if output is None else str(output), place.spark)
        assert {p.name for p in place.root.iterdir()} <= {"in", "out", "checkpoint"}

    refused("no checkpoint of flinkplan")
    plan = _plan(place)
    _put(place, 0, 10)
    job = place.start(plan, Mode.STREAMING)
    try:
        refused("another job is running")
    finally:
        job.stop()
    shutil.rmtree(checkpoint)
    place.run(plan, Mode.AVAILABLE_NOW)
    refused("something already", place.root / "in")
    commits = checkpoint / "sums" / "commits"
    last = max(commits.iterdir(), key=lambda file: file.name)
    last.unlink()
    refused("has not ended")


def test_a_checkpoint_of_queries_without_state_is_refused(place: Place) -> None:
    place.put("1", {"a": 1})
    place.run(passthrough(place.files("in"), place.files("out")), Mode.AVAILABLE_NOW)
    with pytest.raises(FlinkplanError, match="no query of this checkpoint has state"):
        rescale(str(place.root / "checkpoint"), 2, None, place.spark)

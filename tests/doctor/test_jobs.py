"""Counts of real jobs, and what is concluded from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flinkplan.doctor.examining import Patient, examined
from flinkplan.doctor.state_keys import comparing
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.modes import Mode
from flinkplan.planner import compile_script
from flinkplan.state.checkpoint import CheckpointRecord
from flinkplan.state.counts import read_counts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCRIPT = """
CREATE TABLE a (id STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
  WITH ('connector' = 'filesystem', 'path' = '${ROOT}/a', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE b (id STRING, w INT, tb TIMESTAMP(3), WATERMARK FOR tb AS tb)
  WITH ('connector' = 'filesystem', 'path' = '${ROOT}/b', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE filtered (x STRING, y INT) WITH ('connector' = 'blackhole');
CREATE TABLE joined LIKE filtered;
CREATE TABLE united (x STRING, y BIGINT) WITH ('connector' = 'blackhole');
CREATE VIEW u AS SELECT id, ts FROM a UNION ALL SELECT id, tb FROM b;
EXECUTE STATEMENT SET BEGIN
INSERT INTO filtered SELECT id, v FROM a WHERE v > 100;
INSERT INTO joined SELECT a.id, b.w FROM a JOIN b ON a.id = b.id;
INSERT INTO united SELECT id, COUNT(*)
  FROM TABLE(TUMBLE(TABLE u, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY id, window_start, window_end;
END;
"""


def put(root: Path, table: str, *rows: dict[str, object]) -> None:
    folder = root / table
    folder.mkdir(exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / f"{len(list(folder.iterdir())):03}").write_text(text)


def row(id: str, time: str, **more: object) -> dict[str, object]:
    return {"id": id, "ts": f"2024-01-01 {time}", "tb": f"2024-01-01 {time}", **more}


def run(root: Path, spark: SparkSession, mode: Mode) -> str:
    """Run the job, a file of each table a batch; gives its checkpoint."""
    checkpoint = str(root / "checkpoint")
    variables = {"ROOT": str(root)}
    options = JobOptions(checkpoint=checkpoint, mode=mode, variables=variables, spark=spark, files_per_batch=1)
    execute(compile_script(SCRIPT), options).wait()
    return checkpoint


def test_a_stream_tells_why_nothing_comes_out(tmp_path: Path, spark: SparkSession) -> None:
    put(tmp_path, "a", row("Ann", "10:00:00", v=1), row("Bob", "10:00:30", v=2))
    put(tmp_path, "b", row("ANN", "10:00:10", w=1), row("BOB", "09:59:00", w=2), row("CID", "10:00:20", w=3))
    put(tmp_path, "a", row("Ann", "10:02:30", v=3))
    checkpoint = run(tmp_path, spark, Mode.AVAILABLE_NOW)
    counts = read_counts(CheckpointRecord(checkpoint))
    assert counts is not None
    by_sink = counts.queries
    assert [sum(s.rows for s in by_sink[sink].sources.values()) for sink in ("filtered", "joined")] == [3, 6]
    (joined,) = by_sink["joined"].operators.values()
    assert (joined.rows_in, joined.rows_out) == (6, 0)
    assert set(by_sink["united"].watermarks.values()) == {1_704_103_220_000, 1_704_103_345_000}

    patient = Patient.of_checkpoint(checkpoint, {"ROOT": str(tmp_path)}, counts.updated)
    found = {(each.sink, each.id): each.message for each in examined(patient, comparing(checkpoint, spark))}
    assert found.pop(("filtered", "filter")) == "none of 3 rows of `a` passes the filter (v > 100)"
    assert found.pop(("joined", "join-keys")) == (
        "no rows have met in join on a.id = b.id: 3 rows came on the left, 3 on the right; 2 of 2 keys would be on "
        "both sides but for case, such as 'Ann' and 'ANN'"
    )
    held = found.pop(("united", "watermark"))
    assert "that of `b` holds it back: it is 2024-01-01 10:00:20 (`a` is at" in held
    assert found == {}


def test_a_batch_tells_why_nothing_comes_out(tmp_path: Path, spark: SparkSession) -> None:
    put(tmp_path, "a", row("Ann", "10:00:00", v=1), row("Bob", "10:00:30", v=2))
    put(tmp_path, "b", row("ANN", "10:00:10", w=1))
    checkpoint = run(tmp_path, spark, Mode.BOUNDED)
    patient = Patient.of_checkpoint(checkpoint, {"ROOT": str(tmp_path)}, 0)
    assert [(each.sink, each.id) for each in examined(patient)] == [("filtered", "filter"), ("joined", "join-keys")]

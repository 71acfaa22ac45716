"""Bounded input read at once: what a job leaves behind, and what a second start does."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from flinkplan.compat.diff import Exceptions
from flinkplan.compat.restart import RestartError, check_restart
from flinkplan.executor.errors import ExecutionError
from flinkplan.executor.jobs.queries import BatchQuery
from flinkplan.executor.prepare.known import input_size
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan
from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner import compile_script
from flinkplan.state.checkpoint import CheckpointRecord

from .jobs import Place, count, counts_by_minute, event
from .plans import passthrough

pytestmark = pytest.mark.spark

PATIENCE = 60.0
"""Seconds that tasks have to begin, and to end."""


def copying(place: Place) -> Plan:
    return passthrough(place.files("in"), place.files("out"))


def checkpoint(place: Place) -> Path:
    return place.root / "checkpoint"


def test_there_is_one_batch_and_the_checkpoint_says_no_more_than_that_it_is_done(place: Place) -> None:
    place.put("1", event("10:00:01"), event("10:05:00"), event("10:00:02"))
    place.run(counts_by_minute(place))
    assert Counter(map(json.dumps, place.rows())) == Counter(
        map(json.dumps, [count(1, "10:00:00"), count(1, "10:05:00")])
    )
    (progress,) = place.progress
    assert (progress.sink, progress.batch, progress.watermark) == ("sink", 0, "end of input")
    assert (progress.rows_read, progress.rows_written, progress.rows_dropped) == (3, 2, 1)
    (operator,) = progress.operators
    assert (operator.name, operator.dropped_rows) == ("window-aggregate", 1)
    assert (operator.state_rows, operator.updated_rows, operator.memory_bytes) == (0, 0, 0)
    assert {p.name for p in (checkpoint(place) / "sink").iterdir()} == {"metadata", "done", "published"}


@pytest.mark.parametrize("format_", ["json", "parquet"])
def test_a_checkpoint_of_somebody_else_deletes_no_file_but_those_of_the_batch(place: Place, format_: str) -> None:
    place.put("1", {"a": 1})
    plan = passthrough(place.files("in"), place.files("out", format_))
    place.run(plan)
    query, mine = checkpoint(place) / "sink", place.root / "mine"
    mine.write_text("kept")
    published = json.loads((query / "published").read_text())
    (written,) = published["files"]
    (query / "published").write_text(json.dumps({**published, "files": [str(mine), f"file://{mine}", written]}))
    (query / "done").unlink()
    (checkpoint(place) / "flinkplan" / "ended").unlink(missing_ok=True)
    place.run(plan)
    assert mine.read_text() == "kept"
    assert len([*(place.root / "out").glob("part-*")]) == 1


def test_the_id_of_a_query_is_no_path(place: Place) -> None:
    place.put("1", {"a": 1})
    place.run(copying(place))
    (checkpoint(place) / "sink" / "metadata").write_text(json.dumps({"id": "../../x"}))
    with pytest.raises(FlinkplanError, match="something else than the id of a query"):
        place.run(copying(place))


@pytest.mark.parametrize("format_", ["json", "parquet"])
def test_rows_are_counted_as_they_are_read_and_written(place: Place, format_: str) -> None:
    place.put("1", *({"a": a} for a in range(5)))
    place.run(passthrough(place.files("in"), place.files("out", format_), (("a", "INT"),)))
    assert [(p.rows_read, p.rows_written) for p in place.progress] == [(5, 5)]


def test_a_job_that_is_done_does_nothing(place: Place) -> None:
    place.put("1", {"a": 1})
    place.run(copying(place))
    place.put("2", {"a": 2})
    place.run(copying(place))
    assert place.rows() == [{"a": 1}]
    with pytest.raises(RestartError, match="has ended"):
        check_restart(str(checkpoint(place)), copying(place), Exceptions())


def test_a_job_that_is_done_does_not_go_on_in_another_mode(place: Place) -> None:
    place.put("1", {"a": 1})
    place.run(copying(place))
    with pytest.raises(FlinkplanError, match="has read its input to the end"):
        place.run(copying(place), Mode.AVAILABLE_NOW)


def test_what_was_written_but_not_recorded_is_written_again_in_its_place(place: Place) -> None:
    place.put("1", {"a": 1}, {"a": 2})
    place.run(copying(place))
    (checkpoint(place) / "sink" / "done").unlink()
    place.run(copying(place))
    assert place.rows() == [{"a": 1}, {"a": 2}]


def test_a_job_that_fails_leaves_neither_rows_nor_a_record(place: Place) -> None:
    place.put("1", {"a": 1}, {"a": "x"})
    with pytest.raises(ExecutionError):
        place.run(copying(place))
    assert place.output() == []
    assert not CheckpointRecord(checkpoint(place)).exists
    place.put("1", {"a": 1}, {"a": 2})
    place.run(copying(place))
    assert place.rows() == [{"a": 1}, {"a": 2}]


TWO = """\
CREATE TABLE good (a INT) WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE bad (a INT) WITH ('connector' = 'filesystem', 'path' = '{root}/bad', 'format' = 'json');
CREATE TABLE sound (a INT) WITH ('connector' = 'filesystem', 'path' = '{root}/out', 'format' = 'json');
CREATE TABLE broken (a INT) WITH ('connector' = 'filesystem', 'path' = '{root}/more', 'format' = 'json');
EXECUTE STATEMENT SET BEGIN
INSERT INTO sound SELECT a FROM good;
INSERT INTO broken SELECT a FROM bad;
END;
"""


def test_a_sink_that_is_done_stays_done_where_another_one_fails(place: Place) -> None:
    place.put("1", {"a": 1})
    (place.root / "bad").mkdir()
    (place.root / "bad" / "1").write_text("no JSON")
    plan = compile_script(TWO.format(root=place.root))
    record = CheckpointRecord(checkpoint(place))
    with pytest.raises(ExecutionError, match="JSON"):
        place.run(plan)
    assert record.exists
    assert record.is_done("sound")
    assert not record.has_ended
    place.put("2", {"a": 2})
    (place.root / "bad" / "1").write_text('{"a": 3}')
    place.run(plan)
    assert place.rows() == [{"a": 1}]
    assert record.has_ended
    assert [line for p in (place.root / "more").glob("part*") for line in p.read_text().splitlines()] == ['{"a":3}']


KEYED = """\
CREATE TABLE t (m MAP<STRING, INT>, x DOUBLE) WITH (
  'connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE o (m MAP<STRING, INT>, n BIGINT) WITH (
  'connector' = 'filesystem', 'path' = '{root}/out', 'format' = 'debezium-json');
INSERT INTO o SELECT m, COUNT(*) FROM t GROUP BY m;
"""


def test_rows_belong_together_by_keys_that_have_no_order(place: Place) -> None:
    place.put("1", {"m": {"a": 1}}, {"m": {"b": 2}}, {"m": {"a": 1}})
    place.run(compile_script(KEYED.format(root=place.root)))
    last = {json.dumps(change["after"]["m"]): change["after"]["n"] for change in place.rows() if change["after"]}
    assert last == {'{"a": 1}': 2, '{"b": 2}': 1}


def test_a_batch_that_is_stopped_writes_nothing_and_can_be_started_again(place: Place) -> None:
    made = {"connector": "datagen", "number-of-rows": "1000000000", "fields.a.min": "1", "fields.a.max": "1"}
    job = place.start(passthrough(made, place.files("out")))
    _wait(lambda: _running_tasks(place) > 0)
    job.stop()
    _wait(lambda: _running_tasks(place) == 0)
    assert place.output() == []
    assert not CheckpointRecord(checkpoint(place)).is_done("sink")


def _running_tasks(place: Place) -> int:
    status: Any = place.spark.sparkContext._jsc.statusTracker()
    return sum(executor.numRunningTasks() for executor in status.getExecutorInfos())


def _wait(done: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_input_read_in_micro_batches_gives_the_same(place: Place) -> None:
    place.put("1", event("10:00:01"), event("10:05:00"), event("10:00:02"))
    place.run(counts_by_minute(place), streams=True)
    assert place.rows() == [count(1, "10:00:00"), count(1, "10:05:00")]
    assert [p.batch for p in place.progress] == [0, 1]


JOINED = """\
CREATE TABLE t (a INT, n INT) WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE o (a INT, n INT) WITH ('connector' = 'filesystem', 'path' = '{root}/out', 'format' = 'json');
CREATE VIEW v AS SELECT a, REPEAT('x', n) AS s FROM t;
INSERT INTO o SELECT l.a, CHAR_LENGTH(l.s) + CHAR_LENGTH(r.s) FROM v AS l JOIN v AS r ON l.a = r.a + 1;
"""


@pytest.mark.parametrize(
    ("is_sent", "partitions", "rows", "join"),
    [
        pytest.param(True, 2, 3, "BroadcastHashJoin", id="a small input is sent to all tasks"),
        pytest.param(False, 2, 3, "ShuffledHashJoin", id="tables that fit into memory are hashed"),
        pytest.param(False, 2, 200, "SortMergeJoin", id="those that do not are sorted, which spills"),
        pytest.param(False, 1, 3, "SortMergeJoin", id="nothing is known beforehand of rows that are not shuffled"),
    ],
)
def test_a_join_goes_by_the_size_of_its_inputs(
    place: Place, monkeypatch: pytest.MonkeyPatch, is_sent: bool, partitions: int, rows: int, join: str
) -> None:
    place.put("1", *({"a": a, "n": 1_000_000} for a in range(rows)))
    monkeypatch.setattr(input_size, "SMALL_INPUT", 0 if partitions > 1 else input_size.SMALL_INPUT)
    place.spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "10MB" if is_sent else "1B")
    try:
        job = place.start(compile_script(JOINED.format(root=place.root)))
        (query,) = job.queries
        assert isinstance(query, BatchQuery)
        job.wait()
        plan = query._frame._jdf.queryExecution().executedPlan().toString()
        assert join in plan.partition("Initial Plan")[0]
    finally:
        place.spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")
    assert sorted(row["a"] for row in place.rows()) == list(range(1, rows))


ORDERED = """\
CREATE TABLE a (id INT, x INT) WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE b (id INT, y INT) WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE c (id INT, z INT) WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE o (id INT, s STRING) WITH ('connector' = 'filesystem', 'path' = '{root}/out', 'format' = 'debezium-json');
INSERT INTO o SELECT a.id, LISTAGG(CONCAT_WS('-', CAST(x AS STRING), CAST(y AS STRING), CAST(z AS STRING)))
FROM a JOIN b ON a.id = b.id JOIN c ON b.id = c.id AND c.z <> a.x GROUP BY a.id;
"""


def test_rows_of_several_joins_stand_in_the_order_in_which_they_come_to_be(place: Place) -> None:
    place.put("1", *({"id": i % 2, "x": i, "y": i, "z": i} for i in range(5)))
    place.run(compile_script(ORDERED.format(root=place.root)))
    last = {row["after"]["id"]: row["after"]["s"] for row in place.rows() if row["after"]}
    all_rows = [(x, y, z) for x, y, z in product(range(5), repeat=3) if x % 2 == y % 2 == z % 2 and z != x]
    rows = sorted(all_rows, key=lambda row: _joined(_joined((row[0],), (row[1],), 1), (row[2],), 2))
    assert last == {id: ",".join("-".join(map(str, row)) for row in rows if row[0] % 2 == id) for id in (0, 1)}


def _joined(left: tuple[int, ...], right: tuple[int, ...], level: int) -> tuple[int, ...]:
    """When a row of a join comes, of when the two come that it is made of: with the later one, else with the right."""
    return (*left, -2 * level, *right) if left > right else (*right, 1 - 2 * level, *left)


LISTED = """\
CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE o (s STRING) WITH ('connector' = 'filesystem', 'path' = '{root}/out', 'format' = 'debezium-json');
INSERT INTO o SELECT LISTAGG(CAST(x AS STRING)) FROM ({groups});
"""


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize(
    ("groups", "listed"),
    [
        ("SELECT k, MIN(v) AS x FROM t GROUP BY k", "5,1"),
        ("SELECT k, MAX(v) AS x FROM t GROUP BY k", "3,9"),
        ("SELECT k, COUNT(v) AS x FROM t WHERE v <> 9 OR k = 'a' GROUP BY k", "1,2"),
        ("SELECT DISTINCT k AS x FROM t", "a,b"),
    ],
)
def test_groups_stand_in_the_order_in_which_rows_have_changed_them_last(
    place: Place, groups: str, listed: str, streams: bool
) -> None:
    place.put(
        "1", {"k": "a", "v": 3}, {"k": "b", "v": 5}, {"k": "a", "v": 1}, {"k": "b", "v": 9}, {"k": "a", "v": None}
    )
    place.run(compile_script(LISTED.format(root=place.root, groups=groups)), streams=streams)
    assert place.rows()[-1]["after"] == {"s": listed}

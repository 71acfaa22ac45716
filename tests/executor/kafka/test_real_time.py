"""Topics in real-time mode: each message is read and written when it comes, and none is lost over a restart."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flinkplan.executor.jobs.job import Job, JobOptions, execute
from flinkplan.executor.jobs.progress import QueryProgress
from flinkplan.executor.jvm.session import PARTITIONS
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan
from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner import compile_script

from .brokers import Broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("real-time")
"""As in ``test_real_time_jobs.py``."""

PATIENCE = 120.0


class Batches:
    """Counts what a job has committed."""

    def __init__(self) -> None:
        self.count = 0

    def batch_done(self, progress: QueryProgress) -> None:
        self.count += 1


@contextmanager
def running(plan: Plan, spark: SparkSession, folder: Path, batches: Batches | None = None) -> Iterator[Job]:
    """A job, stopped in the middle of a batch."""
    options = JobOptions(
        checkpoint=str(folder / "checkpoint"),
        mode=Mode.REAL_TIME,
        checkpoint_interval=5.0,
        listener=batches or Batches(),
        spark=spark,
    )
    job = execute(plan, options)
    try:
        yield job
    finally:
        job.stop()


def wait_for(job: Job, done: Callable[[], bool]) -> None:
    """Let a job run until something is so."""
    end = time.monotonic() + PATIENCE
    while not done():
        assert not job.wait(0.2)
        assert time.monotonic() < end


def script(broker: Broker, query: str) -> Plan:
    place = f"'properties.bootstrap.servers' = '{broker.servers}'"
    given = f"'connector' = 'kafka', 'scan.startup.mode' = 'earliest-offset', {place}"
    keyed = f"'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json', {place}"
    return compile_script(
        "CREATE TABLE orders (k STRING, v INT, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL, "
        "part INT METADATA FROM 'partition' VIRTUAL) WITH ("
        f"{given}, 'topic' = 'live-orders', 'format' = 'debezium-json');"
        f"CREATE TABLE sums (k STRING PRIMARY KEY NOT ENFORCED, n BIGINT, v INT) WITH ({keyed}, 'topic' = 'live-sums');"
        "CREATE TABLE copied (k STRING, v INT, millis BIGINT) WITH ('sink.partitioner' = 'fixed', "
        f"'connector' = 'kafka', 'topic' = 'live-copied', 'format' = 'debezium-json', {place});{query};"
    )


def change(op: str, k: str, v: int) -> dict[str, object]:
    row = {"k": k, "v": v}
    return {"op": op, "before": row if op == "d" else None, "after": None if op == "d" else row}


@pytest.mark.spark
@pytest.mark.nightly("it waits for a checkpoint, and starts two jobs")
def test_each_message_comes_once_over_restarts(broker: Broker, spark: SparkSession, tmp_path: Path) -> None:
    spark.sparkContext.cancelAllJobs()
    spark.conf.set(PARTITIONS, "1")
    counts = script(broker, "INSERT INTO sums SELECT k, COUNT(*), SUM(v) FROM orders GROUP BY k")

    def sums() -> dict[str, tuple[int, int] | None]:
        """The last value of each key."""
        return {
            key["k"]: None if value is None else (value["n"], value["v"]) for key, value in broker.contents("live-sums")
        }

    broker.put("live-orders", change("c", "a", 1), change("c", "b", 2))
    batches = Batches()
    with running(counts, spark, tmp_path, batches) as job:
        wait_for(job, lambda: sums() == {"a": (1, 1), "b": (1, 2)})
        done = batches.count
        wait_for(job, lambda: batches.count > done)
        # what comes behind a checkpoint is read again by the next job
        broker.put("live-orders", change("c", "a", 10), partition=3)
        wait_for(job, lambda: sums()["a"] == (2, 11))
    broker.put("live-orders", change("d", "b", 2), change("c", "a", 100), partition=2)
    with running(counts, spark, tmp_path) as job:
        wait_for(job, lambda: sums() == {"a": (3, 111), "b": None})


@pytest.mark.spark
def test_messages_are_copied_with_their_kinds(broker: Broker, spark: SparkSession, tmp_path: Path) -> None:
    spark.sparkContext.cancelAllJobs()
    spark.conf.set(PARTITIONS, "1")
    millis = "1000 * UNIX_TIMESTAMP(CAST(ts AS STRING)) + EXTRACT(MILLISECOND FROM ts)"
    copied = script(broker, f"INSERT INTO copied SELECT k, v, {millis} FROM orders WHERE v > 100 AND part < 2")
    changes = (change("c", "x", 101), change("c", "x", 1), change("d", "x", 101))
    broker.put("live-orders", *changes, timestamp=1_700_000_000_123, partition=1)
    with running(copied, spark, tmp_path) as job:
        wait_for(job, lambda: len(list(broker.messages("live-copied"))) >= 2)
    row = {"k": "x", "v": 101, "millis": 1_700_000_000_123}
    assert [value for _, value in broker.contents("live-copied")] == [
        {"before": None, "after": row, "op": "c"},
        {"before": row, "after": None, "op": "d"},
    ]


@pytest.mark.spark
@pytest.mark.nightly("sources tell that time goes on as those of files do")
def test_windows_fire_without_new_messages(broker: Broker, spark: SparkSession, tmp_path: Path) -> None:
    spark.conf.set(PARTITIONS, "1")
    place = f"'connector' = 'kafka', 'properties.bootstrap.servers' = '{broker.servers}', 'format' = 'json'"
    windows = compile_script(
        "CREATE TABLE clicks (k STRING, pt AS PROCTIME()) WITH ("
        f"{place}, 'topic' = 'live-clicks', 'scan.startup.mode' = 'earliest-offset');"
        f"CREATE TABLE counted (k STRING, n BIGINT) WITH ({place}, 'topic' = 'live-counted');"
        "INSERT INTO counted SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(pt), INTERVAL '1' SECOND)) "
        "GROUP BY k, window_start, window_end;"
    )
    broker.put("live-clicks", {"k": "a"}, {"k": "b"})
    with running(windows, spark, tmp_path) as job:
        wait_for(job, lambda: len(list(broker.messages("live-counted"))) >= 2)
    assert sorted((value["k"], value["n"]) for _, value in broker.contents("live-counted")) == [("a", 1), ("b", 1)]


def test_what_is_bounded_is_read_in_batches(tmp_path: Path) -> None:
    plan = compile_script(
        "CREATE TABLE t (k INT) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'json', "
        "'scan.bounded.mode' = 'latest-offset', 'properties.bootstrap.servers' = 'localhost:1');"
        "CREATE TABLE p (k INT) WITH ('connector' = 'print'); INSERT INTO p SELECT k FROM t;"
    )
    with pytest.raises(FlinkplanError, match="a bounded topic is read in batches"):
        execute(plan, JobOptions(checkpoint=str(tmp_path), mode=Mode.REAL_TIME))

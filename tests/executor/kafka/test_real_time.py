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
        "SET 'table.exec.sink.require-on-conflict' = 'false';"
        "CREATE TABLE orders (k STRING, v INT, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', part INT METADATA FROM "
        f"'partition' VIRTUAL) WITH ({given}, 'topic' = 'live-orders', 'format' = 'debezium-json');"
        f"CREATE TABLE names (k STRING, name STRING) WITH ({given}, 'topic' = 'live-names', 'format' = 'json');"
        f"CREATE TABLE sums (k STRING PRIMARY KEY NOT ENFORCED, name STRING, n BIGINT, v INT) "
        f"WITH ({keyed}, 'topic' = 'live-sums');"
        f"CREATE TABLE copied (k STRING, v INT, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp') WITH ("
        f"'connector' = 'kafka', 'topic' = 'live-copied', 'format' = 'debezium-json', {place});{query};"
    )


def change(op: str, k: str, v: int) -> dict[str, object]:
    row = {"k": k, "v": v}
    return {"op": op, "before": row if op == "d" else None, "after": None if op == "d" else row}


@pytest.mark.spark
def test_each_message_comes_once_over_restarts(broker: Broker, spark: SparkSession, tmp_path: Path) -> None:
    spark.sparkContext.cancelAllJobs()
    spark.conf.set(PARTITIONS, "1")
    joined = script(
        broker,
        "INSERT INTO sums SELECT o.k, n.name, COUNT(*), SUM(o.v) FROM orders o JOIN names n ON o.k = n.k "
        "GROUP BY o.k, n.name",
    )

    def sums() -> dict[str, tuple[str, int, int] | None]:
        """The last value of each key."""
        return {
            key["k"]: None if value is None else (value["name"], value["n"], value["v"])
            for key, value in broker.contents("live-sums")
        }

    broker.put("live-names", {"k": "a", "name": "Ann"}, {"k": "b", "name": "Bob"}, partition=1)
    broker.put("live-orders", change("c", "a", 1), change("c", "b", 2), change("c", "c", 9))
    batches = Batches()
    with running(joined, spark, tmp_path, batches) as job:
        wait_for(job, lambda: sums() == {"a": ("Ann", 1, 1), "b": ("Bob", 1, 2)})
        done = batches.count
        wait_for(job, lambda: batches.count > done)
        # what comes behind a checkpoint is read again by the next job
        broker.put("live-orders", change("c", "a", 10), partition=3)
        wait_for(job, lambda: sums()["a"] == ("Ann", 2, 11))
    broker.put("live-orders", change("d", "b", 2), change("c", "a", 100), partition=2)
    with running(joined, spark, tmp_path) as job:
        wait_for(job, lambda: sums() == {"a": ("Ann", 3, 111), "b": None})


@pytest.mark.spark
def test_messages_are_copied_with_their_times(broker: Broker, spark: SparkSession, tmp_path: Path) -> None:
    spark.conf.set(PARTITIONS, "1")
    copied = script(broker, "INSERT INTO copied SELECT k, v, ts FROM orders WHERE v > 100 AND part < 3")
    broker.put(
        "live-orders", change("c", "x", 101), change("c", "x", 1), change("d", "x", 101), timestamp=1_700_000_000_123
    )
    with running(copied, spark, tmp_path) as job:
        wait_for(job, lambda: len(list(broker.messages("live-copied"))) >= 2)
    messages = [(m.timestamp()[1], m.value()) for m in broker.messages("live-copied")]
    assert [time for time, _ in messages] == [1_700_000_000_123] * 2
    assert b'"op":"c"' in (messages[0][1] or b"") and b'"op":"d"' in (messages[1][1] or b"")


def test_what_is_bounded_is_read_in_batches(tmp_path: Path) -> None:
    plan = compile_script(
        "CREATE TABLE t (k INT) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'json', "
        "'scan.bounded.mode' = 'latest-offset', 'properties.bootstrap.servers' = 'localhost:1');"
        "CREATE TABLE p (k INT) WITH ('connector' = 'print'); INSERT INTO p SELECT k FROM t;"
    )
    with pytest.raises(FlinkplanError, match="a bounded topic is read in batches"):
        execute(plan, JobOptions(checkpoint=str(tmp_path), mode=Mode.REAL_TIME))

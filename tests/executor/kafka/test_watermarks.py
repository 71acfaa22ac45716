"""Watermarks that plans leave to topics, whose partitions have each their own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from flinkplan.executor.jobs.job import Job
from flinkplan.executor.prepare.modes import Mode
from flinkplan.planner import compile_script
from tests.executor.test_pushed_watermarks import push

from .brokers import PARTITIONS
from .clusters import Cluster

pytestmark = pytest.mark.spark

PATIENCE = 60.0


def put(cluster: Cluster, topic: str, **seconds: int) -> None:
    """Add a row of these seconds of a minute to partitions, by their names."""
    for name, second in seconds.items():
        cluster.broker.put(topic, {"ts": f"2024-01-01 00:00:{second:02}"}, partition=int(name[1:]))


@contextmanager
def windows(cluster: Cluster, topic: str, timeout: int = 0) -> Iterator[Job]:
    """A job that counts the rows of each ten seconds, by a plan of Flink's."""
    plan = compile_script(
        cluster.table(
            topic, "ts TIMESTAMP(3), WATERMARK FOR ts AS ts", format="json", scan_startup_mode="earliest-offset"
        )
        + cluster.out("s TIMESTAMP(3), n BIGINT")
        + f"INSERT INTO `out` SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE {topic}, DESCRIPTOR(ts), "
        "INTERVAL '10' SECOND)) GROUP BY window_start, window_end;"
    )
    job = cluster.begin(push(plan, timeout), Mode.STREAMING)
    try:
        yield job
    finally:
        job.stop()


def counted(cluster: Cluster, count: int) -> list[tuple[Any, Any]]:
    """The first seconds of so many windows, and their rows."""
    deadline = time.monotonic() + PATIENCE
    while len(rows := cluster.rows()) < count and time.monotonic() < deadline:
        time.sleep(0.1)
    return sorted((row["s"][-2:], row["n"]) for row in rows)


def test_the_lowest_watermark_of_all_partitions_counts(cluster: Cluster) -> None:
    put(cluster, "parted", p0=1, p1=5, p2=5, p3=5)
    put(cluster, "parted", p0=40)
    with windows(cluster, "parted") as job:
        while not cluster.progress:
            job.wait(0.1)
        put(cluster, "parted", p1=6, p2=12, p3=13)  # of p1 still in time, far as p0 may be
        while sum(progress.rows_read for progress in cluster.progress) < 8:
            job.wait(0.1)
        assert cluster.rows() == []
        put(cluster, "parted", p1=11)
        assert counted(cluster, 1) == [("00", 5)]
        put(cluster, "parted", p1=7, p2=14)  # of p1 too late
        put(cluster, "parted", **{f"p{number}": 21 for number in range(PARTITIONS)})
        assert counted(cluster, 2) == [("00", 5), ("10", 4)]


def test_a_partition_without_rows_is_idle_by_itself(cluster: Cluster) -> None:
    put(cluster, "parted_idle", p0=1, p1=5)
    deadline = time.monotonic() + PATIENCE
    with windows(cluster, "parted_idle", timeout=1000):
        while not cluster.rows() and time.monotonic() < deadline:
            put(cluster, "parted_idle", p0=12, p1=13)
            time.sleep(0.5)
        assert counted(cluster, 1) == [("00", 2)]

"""Jobs on two executors, one of which is killed, write what their input comes to.

So does a stream whose driver is killed and started again.  By default a bounded job runs on one kind of cluster, which
starts four JVMs; each kind of job runs on each kind of cluster where ``FLINKPLAN_CLUSTERS`` is ``all`` (``make
clusters``).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from flinkplan.executor.runtime.jar import runtime_jar
from flinkplan.plan.document import Plan, save
from flinkplan.planner import compile_script
from tests.clusters import Cluster, local_cluster, standalone
from tests.compat.watched import ROWS, SINKS, expected, feed, pipeline, written
from tests.killing import BRIEF, Running

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("processes")]

FILES, BEFORE = 12, 4
"""How many of each table come in, and how many before an executor is killed."""
MOST_BEFORE = 2 * BEFORE * ROWS
"""So many rows a sink has read of those at most: one of them has two tables."""
CONF = {
    "spark.driver.defaultJavaOptions": BRIEF,
    "spark.executor.defaultJavaOptions": BRIEF,
    "spark.executor.memory": "600m",
    "spark.sql.files.minPartitionNum": "2",
    "spark.sql.shuffle.partitions": "2",
}
BUSY = "Finished task"
"""What an executor's log says once it has something to lose."""

MakeCluster = Callable[[Path], AbstractContextManager[Cluster]]
NOT_BY_DEFAULT = pytest.mark.skipif(os.environ.get("FLINKPLAN_CLUSTERS") != "all", reason="only by: make clusters")


@pytest.fixture(scope="module")
def plan() -> Plan:
    return compile_script(pipeline())


class Work:
    """A plan that jobs on a cluster execute one after another."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.folder = folder / "shared"
        self._plan = folder / "plan.json"
        self._jobs: list[Running] = []
        save(plan, self._plan)

    def start(self, cluster: Cluster, *options: str) -> Running:
        """By ``flinkplan``, which is told where."""
        program = str(Path(sys.executable).with_name("flinkplan"))
        return self._run([program, *self._arguments(*options, *_settings(cluster))], cluster.environment)

    def submit(self, cluster: Cluster, *options: str) -> Running:
        """By ``spark-submit``, which is told where."""
        program = self._plan.with_name("main.py")
        program.write_text("from flinkplan.cli.main import main\nmain()\n", "utf-8")
        command = [f"{cluster.environment['SPARK_HOME']}/bin/spark-submit", *_settings(cluster)]
        command += ["--jars", str(runtime_jar()), str(program)]
        environment = {**cluster.environment, "PYSPARK_PYTHON": sys.executable}
        return self._run([*command, *self._arguments(*options)], environment)

    def _run(self, command: Sequence[str], environment: Mapping[str, str]) -> Running:
        self._jobs.append(Running(command, environment))
        return self._jobs[-1]

    def end(self) -> None:
        """Kill what runs still."""
        for job in self._jobs:
            if job.process.poll() is None:
                job.kill()

    def _arguments(self, *options: str) -> list[str]:
        arguments = ["execute", str(self._plan), "--log-format", "json", "--var", f"DIR={self.folder}"]
        return [*arguments, "--checkpoint", str(self.folder / "checkpoint"), *options]


def _settings(cluster: Cluster) -> list[str]:
    return ["--master", cluster.master, *(part for key, value in CONF.items() for part in ("--conf", f"{key}={value}"))]


@pytest.fixture
def work(plan: Plan, tmp_path: Path) -> Iterator[Work]:
    work = Work(plan, tmp_path)
    yield work
    work.end()


@NOT_BY_DEFAULT
@pytest.mark.parametrize("make", [local_cluster, standalone])
def test_a_stream_outlives_an_executor_and_its_driver(make: MakeCluster, work: Work, tmp_path: Path) -> None:
    with make(tmp_path) as cluster:
        for number in range(BEFORE):
            feed(work.folder, number)
        job = work.start(cluster, "--mode", "streaming", "--files-per-batch", "1")
        job.batch(*SINKS)
        cluster.kill_one(BUSY)
        for number in range(BEFORE, FILES):
            feed(work.folder, number)
        while any(job.read[sink] <= MOST_BEFORE for sink in SINKS):
            job.batch()
        job.kill()
        work.start(cluster, "--mode", "bounded").finish()
    assert written(work.folder) == expected(FILES)


@NOT_BY_DEFAULT
@pytest.mark.parametrize("make", [local_cluster, standalone])
def test_a_bounded_job_outlives_an_executor(make: MakeCluster, work: Work, tmp_path: Path) -> None:
    for number in range(FILES):
        feed(work.folder, number)
    with make(tmp_path) as cluster:
        job = work.submit(cluster, "--mode", "bounded")
        cluster.kill_one(BUSY)
        job.finish()
    assert written(work.folder) == expected(FILES)

"""Clusters of Spark on this machine, whose executors are processes that can be killed.

What they write is below a temporary folder: also their home, which has PySpark's programs and jars and no settings.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

from flinkplan.executor.runtime.jar import jars
from tests.killing import BRIEF

PATIENCE = 120.0
"""Seconds within which what is waited for comes, however busy the machine is."""
POLL_SECONDS = 0.02
ELSEWHERE = "America/Los_Angeles"
"""The time zone of the cluster's machines: no result depends on it."""
LOOPBACK = "127.0.0.1"
_EXECUTOR = re.compile(r"\.CoarseGrainedExecutorBackend .*--executor-id (\d+) .*--app-id (\S+)")

Found = TypeVar("Found")


class Cluster:
    """Two executors of one core for each job."""

    def __init__(self, master: str, folders: Path, environment: Mapping[str, str]) -> None:
        """``master``: its URL, ``folders``: where executors have theirs, ``environment``: that of a job's process."""
        self.master = master
        self.environment = environment
        self._folders = folders

    def kill_one(self, says: str) -> None:
        """Kill an executor as soon as its log says something, and wait for one that takes its place."""
        killed = until(lambda: [pid for pid, log in self._logs().items() if says in log])[0]
        others = self._logs().keys()
        os.kill(killed, signal.SIGKILL)
        until(lambda: self._logs().keys() - others)

    def _logs(self) -> dict[int, str]:
        """What executors have logged, by their processes."""
        found = {pid: _EXECUTOR.search(command) for pid, command in _processes()}
        return {pid: self._log(of[2], of[1]) for pid, of in found.items() if of is not None}

    def _log(self, app: str, executor: str) -> str:
        return "".join(file.read_text() for file in self._folders.glob(f"**/{app}/{executor}/stderr"))


def until(look: Callable[[], Found]) -> Found:
    """What is found in the end."""
    end = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(POLL_SECONDS)
    return found


def _processes() -> Iterator[tuple[int, str]]:
    """The processes below this one, with their commands."""
    listed = subprocess.run(["ps", "-Aww", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True)
    children: dict[int, list[tuple[int, str]]] = {}
    for line in listed.stdout.splitlines():
        pid, parent, command = line.split(maxsplit=2)
        children.setdefault(int(parent), []).append((int(pid), command))
    waiting = [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        waiting.extend(child for child, _ in below)
        yield from below


def _environment(folder: Path) -> dict[str, str]:
    """That of a process, with a home of Spark in a folder."""
    home = folder / "spark"
    home.mkdir(parents=True)
    for part in ("bin", "jars"):
        (home / part).symlink_to(jars().with_name(part))
    return {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": LOOPBACK,
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": BRIEF,
        "TZ": ELSEWHERE,
    }


@contextmanager
def local_cluster(folder: Path) -> Iterator[Cluster]:
    """One whose master and workers are in the process of the job."""
    environment = _environment(folder)
    yield Cluster("local-cluster[2,1,1024]", folder / "spark" / "work", environment)


@contextmanager
def standalone(folder: Path) -> Iterator[Cluster]:
    """One of Spark's own, whose master and workers are processes of their own."""
    environment, work = _environment(folder), folder / "work"
    with ExitStack() as stack:
        ports = ("--host", LOOPBACK, "--port", "0", "--webui-port", "0")

        def start(name: str, log: Path, *arguments: str) -> None:
            command = [f"{environment['SPARK_HOME']}/bin/spark-class", f"org.apache.spark.deploy.{name}", *ports]
            stack.enter_context(_daemon([*command, *arguments], log, environment))

        log = folder / "master.log"
        start("master.Master", log)
        (master,) = until(lambda: re.findall(r"Starting Spark master at (\S+)", log.read_text()))
        size = ("--cores", "1", "--memory", "1g")
        logs = [folder / f"worker-{number}.log" for number in range(2)]
        for log in logs:
            start("worker.Worker", log, *size, "--work-dir", str(work / log.stem), master)
        until(lambda: all("Successfully registered with master" in log.read_text() for log in logs))
        yield Cluster(master, work, environment)


@contextmanager
def _daemon(command: Sequence[str], log: Path, environment: Mapping[str, str]) -> Iterator[None]:
    with log.open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment)
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)

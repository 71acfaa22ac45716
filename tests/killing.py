"""Jobs in processes of their own, which are killed again and again.

What costs is a JVM that starts.  So the first process, which is not killed, may leave an archive of the classes that it
has loaded, with which the others start in half the time; and while one process works, the next one starts and waits.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from flinkplan.executor.runtime.class_archive import ClassArchive

SEED = int(os.environ.get("FLINKPLAN_SEED", "7"))
BATCHES = (0, 0, 1, 2, 3)
"""How many batches of each sink a process may do before it is killed; one that does none is killed while it starts."""
PATIENCE, START_UP = 1.0, 4.0
"""Seconds within which it is killed after a batch, or from its start on."""
CORES = (1, 2, 4)

BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+IgnoreUnrecognizedVMOptions"
"""How a JVM starts that lives for seconds."""


class Work:
    """A plan that processes execute one after another from one checkpoint.

    ``folder`` holds the checkpoint and what else the work has, ``classes`` is the archive of Java's classes.
    """

    def __init__(self, plan: Path, folder: Path, variables: Mapping[str, str], classes: Path) -> None:
        self._plan = plan
        self._folder = folder
        self._variables = variables
        self._classes = classes

    def finish(self) -> None:
        """Work through all that is there in a process that leaves the archive, if there is none."""
        made = None if self._classes.exists() else self._classes
        Worker(self._arguments("bounded"), 2, ClassArchive(self._classes, made=made).java_options).finish()

    def worker(self, mode: str, cores: int, *options: str, conf: Mapping[str, str] = MappingProxyType({})) -> Worker:
        """Another process, which starts from the archive; ``conf`` are settings of its session."""
        java = ClassArchive(self._classes).java_options
        return Worker([*self._arguments(mode), *options], cores, java, conf)

    def _arguments(self, mode: str) -> list[str]:
        arguments = ["execute", str(self._plan), "--mode", mode, "--log-format", "json"]
        arguments += ["--checkpoint", str(self._folder / "checkpoint")]
        return arguments + [part for name, value in self._variables.items() for part in ("--var", f"{name}={value}")]


class Running:
    """A command in a process group of its own, with its JVM, that says of each batch when it is done."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """``environment`` takes the place of that of this process."""
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=environment,
        )
        self.read: Counter[str] = Counter()
        """How many rows the batches that were waited for have read, by sink."""

    def batch(self, *sinks: str) -> None:
        """Wait until it has done a batch: of each of these sinks, or of any."""
        assert self.process.stdout is not None
        waiting = set(sinks)
        while True:
            line = self.process.stdout.readline()
            assert line, "the job ended by itself"
            event = json.loads(line)
            waiting.discard(event.get("sink"))
            self.read[event.get("sink")] += event.get("rows_read", 0)
            if not waiting:
                return

    def wait(self, seconds: float) -> None:
        """Let it work on for a while."""
        with pytest.raises(subprocess.TimeoutExpired):
            self.process.wait(seconds)

    def kill(self) -> None:
        """End the process and its JVM at once."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def finish(self) -> None:
        """Let it work through all that is there, and its JVM end."""
        self.process.communicate()
        assert self.process.returncode == 0


class Worker(Running):
    """A process that runs a command once it is told to.

    ``java`` are options of its JVM, ``conf`` settings of Spark.
    """

    def __init__(
        self, arguments: Sequence[str], cores: int, java: str, conf: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        conf = {
            **conf,
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.files.minPartitionNum": str(cores),
            "spark.driver.extraJavaOptions": f"-Duser.timezone=UTC {BRIEF} {java}",
        }
        code = (
            "from flinkplan.cli.main import main; from flinkplan.executor.jvm.session import session; "
            f"session('local[{cores}]', {conf!r}); print('ready', flush=True); input(); main({list(arguments)!r})"
        )
        super().__init__([sys.executable, "-c", code])

    def begin(self) -> None:
        """Let it run, as soon as its JVM is up."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def finish(self) -> None:
        """Let it work through all that is there, and its JVM end."""
        self.begin()
        super().finish()


class Kills:
    """How often a work is killed, and after how many batches each time."""

    def __init__(self, usual: int) -> None:
        """``usual``: how often, unless ``FLINKPLAN_KILLS`` says otherwise."""
        count = int(os.environ.get("FLINKPLAN_KILLS", usual))
        self._moments = random.Random(SEED)
        self._batches = [self._moments.choice(BATCHES) for _ in range(count)]
        self.feeds = count + sum(self._batches)
        """How often input is added."""

    def inflict(self, work: Work, feed: Callable[[int], None], sinks: Iterable[str]) -> None:
        """Kill the processes of a work and let the last one finish; a batch of each sink brings more input."""
        waited = tuple(sinks)
        numbers = iter(range(self.feeds))
        worker = self._next(work, "streaming")
        for kills, count in enumerate(self._batches, 1):
            following = self._next(work, "streaming" if kills < len(self._batches) else "bounded")
            feed(next(numbers))
            worker.begin()
            for _ in range(count):
                worker.batch(*waited)
                feed(next(numbers))
            worker.wait(self._moments.uniform(0, PATIENCE if count else START_UP))
            worker.kill()
            worker = following
        worker.finish()

    def _next(self, work: Work, mode: str) -> Worker:
        return work.worker(mode, self._moments.choice(CORES))


def left(folder: Path) -> Counter[tuple[Any, ...]]:
    """The rows that a changelog in files leaves, with how often; a row taken back too often counts below zero."""
    rows: Counter[tuple[Any, ...]] = Counter()
    for change in changes(folder):
        row, sign = (change["after"], 1) if change["op"] == "c" else (change["before"], -1)
        rows[tuple(row.values())] += sign
    return Counter({row: count for row, count in rows.items() if count})


def changes(folder: Path) -> Iterator[dict[str, Any]]:
    """What a sink has shown, in the order of its files."""
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not file.name.startswith("."):
            yield from map(json.loads, file.read_text().splitlines())

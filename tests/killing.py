"""Jobs in processes of their own, which are killed again and again.

What costs is a JVM that starts.  So while one process works, the next one starts and waits.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

SEED = int(os.environ.get("FLINKPLAN_SEED", "7"))
BATCHES = (0, 0, 1, 2, 3)
"""How many batches of each sink a process may do before it is killed; one that does none is killed while it starts."""
PATIENCE, START_UP = 1.0, 4.0
"""Seconds within which it is killed after a batch, or from its start on."""
CORES = (1, 2, 4)
LOOKS, LOOK_SECONDS = 120, 0.005
"""Seconds within which what is looked for comes, however busy the machine is; between two looks."""

BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+IgnoreUnrecognizedVMOptions"
"""How a JVM starts that lives for seconds."""


class Work:
    """A plan that processes execute one after another from one checkpoint; or a program, which they run.

    ``folder`` holds the checkpoint and what else the work has; ``options`` are those of the command, ``conf`` settings
    of each session.
    """

    def __init__(
        self,
        plan: Path,
        folder: Path,
        variables: Mapping[str, str],
        options: Sequence[str] = (),
        conf: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._plan = plan
        self._folder = folder
        self._variables = variables
        self._options = options
        self._conf = conf

    def is_within_batch(self) -> bool:
        """Whether a query has planned a batch that it has not committed."""
        queries = (self._folder / "checkpoint").glob("[!.]*")
        return any(_last(query / "offsets") > _last(query / "commits") for query in queries)

    def worker(self, mode: str, cores: int, *options: str, conf: Mapping[str, str] = MappingProxyType({})) -> Worker:
        """Another process; ``conf`` are settings of its session."""
        return Worker([*self._arguments(mode), *options], cores, {**self._conf, **conf})

    def _arguments(self, mode: str) -> list[str]:
        command = "run" if self._plan.suffix == ".py" else "execute"
        arguments = [command, str(self._plan), *self._options, "--mode", mode, "--log-format", "json"]
        arguments += ["--checkpoint", str(self._folder / "checkpoint")]
        return arguments + [part for name, value in self._variables.items() for part in ("--var", f"{name}={value}")]


def _last(log: Path) -> int:
    """The last batch of a log of Spark's; -1 where there is none."""
    return max((int(file.name) for file in log.glob("*") if file.name.isdigit()), default=-1)


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
    """A process that runs a command once it is told to; ``conf`` are settings of its session."""

    def __init__(self, arguments: Sequence[str], cores: int, conf: Mapping[str, str] = MappingProxyType({})) -> None:
        conf = {
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.files.minPartitionNum": str(cores),
            "spark.driver.extraJavaOptions": f"-Duser.timezone=UTC {BRIEF}",
            **conf,
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


REAL_TIME_PATIENCE, REAL_TIME_START_UP = 5.0, 12.0
"""Seconds within which a process in real-time mode is killed after a batch, or from its start on."""


def kill_in_real_time(following: Callable[[], Worker], kills: Iterable[int], moments: random.Random) -> Worker:
    """Kill one process after another, each when its queries have done so many batches; with none, while it starts.

    Returns the last one, which waits to begin.
    """
    worker = following()
    for batches in kills:
        after = following()
        worker.begin()
        for _ in range(batches):
            worker.batch()
        worker.wait(moments.uniform(0, REAL_TIME_PATIENCE if batches else REAL_TIME_START_UP))
        worker.kill()
        worker = after
    return worker


class Place(Enum):
    """Where a process is killed."""

    STARTING = "while it starts"
    WITHIN = "within a batch"
    BETWEEN = "between two batches"


class Kills:
    """How often a work is killed, and where.

    By default that is once at each of ``places``; where ``FLINKPLAN_KILLS`` is a number, so often at random moments.
    """

    def __init__(self, *places: Place) -> None:
        often = os.environ.get("FLINKPLAN_KILLS")
        self._moments = random.Random(SEED)
        self._places: Sequence[Place | int] = places
        if often is not None:
            self._places = [self._moments.choice(BATCHES) for _ in range(int(often))]
        self.feeds = len(self._places) + sum(_batches(place) for place in self._places)
        """How often input is added at least."""

    def inflict(self, work: Work, feed: Callable[[int], None], sinks: Iterable[str]) -> int:
        """Kill the processes of a work and let the last one finish; a batch of each sink brings more input.

        Returns how often input was added.
        """
        waited, numbers = tuple(sinks), count()

        def more() -> None:
            feed(next(numbers))

        worker = self._next(work, "streaming")
        for kills, place in enumerate(self._places, 1):
            following = self._next(work, "streaming" if kills < len(self._places) else "bounded")
            more()
            worker.begin()
            for _ in range(_batches(place)):
                worker.batch(*waited)
                more()
            if place is Place.WITHIN:
                _until(work.is_within_batch, otherwise=more)
            elif place is Place.BETWEEN:
                worker.batch(*waited)
                _until(lambda: not work.is_within_batch())
            else:
                worker.wait(self._moments.uniform(0, PATIENCE if _batches(place) else START_UP))
            worker.kill()
            worker = following
        worker.finish()
        return next(numbers)

    def _next(self, work: Work, mode: str) -> Worker:
        return work.worker(mode, self._moments.choice(CORES))


def _batches(place: Place | int) -> int:
    """How many batches of each sink a process does first."""
    return place if isinstance(place, int) else int(place is not Place.STARTING)


def _until(is_so: Callable[[], bool], *, otherwise: Callable[[], None] = lambda: None) -> None:
    """Look until something is so; ``otherwise`` is done whenever it was not for a second."""
    for _ in range(LOOKS):
        end = time.monotonic() + 1
        while time.monotonic() < end:
            if is_so():
                return
            time.sleep(LOOK_SECONDS)
        otherwise()
    raise AssertionError("it did not come")


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

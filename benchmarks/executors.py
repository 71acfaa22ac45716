"""Measures how much faster queries of Nexmark are on two executors than on one, each of half a core.

    benchmarks/executors.py QUERIES [--only q5,q9] [--events N] [--rounds N]

A driver and an executor take more than one core, so that on two a second executor has none of its own.  Linux's control
groups (version 1, as root) leave half of the first core to each executor; all else has the others.  So executors that
work at the same time do not slow each other down as cores of one chip do, and what is seen is how the work spreads.
The two take turns, and the medians of the later half of the rounds count: an executor that does half of the work is
compiled in twice as many.
"""

import argparse
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from statistics import median

from measuring import run
from nexmark import build, script
from rich.console import Console
from rich.table import Table

from flinkplan.executor.jvm.session import Lifetime, session

GROUPS = Path("/sys/fs/cgroup")
CORE = 0
"""The core that the executors share."""
PERIOD = 100_000
SHARE = 0.5
"""Of a core, what each executor has."""


class Limits:
    """Puts each executor that starts into a group of its own."""

    def __init__(self) -> None:
        self._groups: dict[int, list[Path]] = {}
        self._ends = threading.Event()

    def __enter__(self) -> "Limits":
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._ends.set()
        self._thread.join()
        for group in chain.from_iterable(self._groups.values()):
            with suppress(OSError):  # a process may not be gone yet
                group.rmdir()

    def _watch(self) -> None:
        while not self._ends.wait(0.2):
            for process in filter(lambda p: p.name.isdigit(), Path("/proc").iterdir()):
                with suppress(OSError):
                    command = (process / "cmdline").read_bytes()
                    if b"CoarseGrainedExecutorBackend" in command and int(process.name) not in self._groups:
                        self._limit(int(process.name))

    def _limit(self, pid: int) -> None:
        limits = {"cpu.cfs_period_us": PERIOD, "cpu.cfs_quota_us": int(PERIOD * SHARE)}
        self._groups[pid] = [
            self._group("cpu", pid, limits),
            self._group("cpuset", pid, {"cpuset.cpus": CORE, "cpuset.mems": 0}),
        ]

    def _group(self, kind: str, pid: int, limits: Mapping[str, int]) -> Path:
        group = GROUPS / kind / f"flinkplan-executor-{pid}"
        group.mkdir()
        for name, limit in {**limits, "cgroup.procs": pid}.items():
            (group / name).write_text(str(limit))
        return group


class Cluster:
    """So many executors, for one round of a query after the other."""

    def __init__(self, executors: int, given: argparse.Namespace) -> None:
        command = [sys.executable, __file__, given.queries, "--events", str(given.events)]
        command += ["--data", str(given.data), "--serve", f"local-cluster[{executors},1,4096]"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *failure: object) -> None:
        self._process.communicate()

    def seconds(self, query: str) -> float:
        """What a round of a query took."""
        assert self._process.stdin and self._process.stdout
        print(query, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())


def serve(master: str, given: argparse.Namespace) -> None:
    """Take the names of queries, and tell the seconds of a round of each."""
    session(master, lifetime=Lifetime.JOB)
    data = build(given.data.absolute(), given.events)
    for line in sys.stdin:
        (took,) = run(script(given.queries, line.strip(), data), 1)
        print(took.seconds, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("queries", type=Path)
    parser.add_argument("--only", default="q5,q9")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--data", type=Path, default=Path("out/nexmark"))
    parser.add_argument("--serve", metavar="MASTER", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.serve, given)
        return
    if not all(os.access(GROUPS / kind, os.W_OK) for kind in ("cpu", "cpuset")):
        parser.error(f"control groups cannot be made below {GROUPS}: version 1, as root")
    os.sched_setaffinity(0, os.sched_getaffinity(0) - {CORE})
    build(given.data.absolute(), given.events)
    table = Table(title=f"{given.events:,} events, executors of {SHARE} cores: seconds")
    for column in ("query", "one executor", "two", "times as fast"):
        table.add_column(column, justify="right")
    with Limits(), Cluster(1, given) as one, Cluster(2, given) as two:
        for query in given.only.split(","):
            rounds = [(one.seconds(query), two.seconds(query)) for _ in range(given.rounds)]
            print(query, *(f"{a:.1f}:{b:.1f}" for a, b in rounds), file=sys.stderr, flush=True)
            alone, both = map(median, zip(*rounds[len(rounds) // 2 :], strict=True))
            table.add_row(query, f"{alone:.1f}", f"{both:.1f}", f"{alone / both:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()

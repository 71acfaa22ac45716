"""Measures how much faster queries of Nexmark are on two executors than on one, each of half a core.

    benchmarks/executors.py QUERIES [--only q5,q9] [--events N] [--rounds N]

A driver and an executor take more than one core, so that on two a second executor has none of its own.  Linux's control
groups (version 1, as root) leave half a core to each executor, and the driver has what it needs.
"""

import argparse
import re
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
GROUPS = Path("/sys/fs/cgroup/cpu")
PERIOD = 100_000
SHARE = 0.5
"""Of a core, what each executor has."""
ROW = re.compile(r"(q\d+) +\S+ \(\S+\) +(\S+) \((\S+)\)")
"""A query's row of ``nexmark.py``: the best round's seconds."""


class Limits:
    """Puts each executor that starts into a group of its own."""

    def __init__(self) -> None:
        self._groups: dict[int, Path] = {}
        self._ends = threading.Event()

    def __enter__(self) -> "Limits":
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._ends.set()
        self._thread.join()
        for group in self._groups.values():
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
        group = self._groups[pid] = GROUPS / f"flinkplan-executor-{pid}"
        group.mkdir()
        (group / "cpu.cfs_period_us").write_text(str(PERIOD))
        (group / "cpu.cfs_quota_us").write_text(str(int(PERIOD * SHARE)))
        (group / "cgroup.procs").write_text(str(pid))


def measure(executors: int, given: argparse.Namespace) -> dict[str, float]:
    """The seconds of each query."""
    command = [sys.executable, str(HERE / "nexmark.py"), given.queries, "--events", given.events, "--only", given.only]
    command += ["--rounds", given.rounds, "--master", f"local-cluster[{executors},1,4096]"]
    with Limits():
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        time.sleep(1)  # the executors end behind the driver
    return {query: float(seconds) for query, seconds, _ in ROW.findall(done.stderr)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("queries")
    parser.add_argument("--only", default="q5,q9")
    parser.add_argument("--events", default="1000000")
    parser.add_argument("--rounds", default="4")
    given = parser.parse_args()
    one, two = (measure(executors, given) for executors in (1, 2))
    table = Table(title=f"{given.events} events, executors of {SHARE} cores: seconds")
    for column in ("query", "one executor", "two", "times as fast"):
        table.add_column(column, justify="right")
    for query in one:
        table.add_row(query, f"{one[query]:.1f}", f"{two[query]:.1f}", f"{one[query] / two[query]:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()

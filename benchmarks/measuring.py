"""What benchmarks of whole queries share: rounds of a job here and on Flink, and the table of what they took."""

import argparse
import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from flink_job import processor_seconds
from rich.console import Console
from rich.table import Table

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.jvm.session import session
from flinkplan.planner import compile_script

HERE = Path(__file__).parent
FLINKPLAN = Path(sys.executable).parent / "flinkplan"
_SET_CHILD_SUBREAPER = 36


class Round(NamedTuple):
    """The seconds of a run, and those of processor time."""

    seconds: float
    processor: float


def two_or_more(text: str) -> int:
    """How many rounds an argument says.  Raises :class:`argparse.ArgumentTypeError` where too few would count."""
    if not text.isdecimal() or int(text) < 2:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 2: the first round does not count")
    return int(text)


def timed(rounds: int, work: Callable[[], object]) -> list[Round]:
    """What each round took, in this process, its JVM, and executors that this has started."""
    return taking_turns(rounds, work)[0]


def taking_turns(rounds: int, *works: Callable[[], object]) -> list[list[Round]]:
    """What each round of each work took, one after the other in each round, so that all have the same machine."""
    spark: Any = session()
    jvm = spark._jvm.java.lang.ProcessHandle.current()

    def processor() -> float:
        used = time.process_time()
        for pid in (jvm.pid(), *(process.pid() for process in jvm.descendants().toArray())):
            with suppress(FileNotFoundError):  # a Python worker may have ended since
                used += processor_seconds(pid)
        return used

    found: list[list[Round]] = [[] for _ in works]
    for _ in range(rounds):
        for work, taken in zip(works, found, strict=True):
            begin, used = time.perf_counter(), processor()
            work()
            taken.append(Round(time.perf_counter() - begin, processor() - used))
    return found


def run(sql: str, rounds: int, **how: Any) -> list[Round]:
    """What each round of a script's job took here; ``how`` are :class:`JobOptions`."""
    plan = compile_script(sql)

    def work() -> None:
        with tempfile.TemporaryDirectory(prefix="flinkplan-bench-") as folder:
            execute(plan, JobOptions(checkpoint=folder, spark=session(), **how)).wait()

    return timed(rounds, work)


def run_flink(sql: str, rounds: int, python: str, *, stream: bool = False) -> list[Round]:
    """The same on Flink, with its state on the heap; of a stream in RocksDB, with a checkpoint every ten seconds."""
    with tempfile.TemporaryDirectory(prefix="flinkplan-bench-") as folder:
        how = ["rocksdb", str(rounds), str(Path(folder, "checkpoints"))] if stream else ["hashmap", str(rounds)]
        command = [python, str(HERE / "flink_job.py"), _written(sql, folder), *how]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return [Round(*map(float, line.split())) for line in done.stdout.splitlines()[-rounds:]]


def run_cold(sql: str, rounds: int) -> list[Round]:
    """What each round took in a process of its own, from its start to its end."""
    with tempfile.TemporaryDirectory(prefix="flinkplan-bench-") as folder:
        return [process([str(FLINKPLAN), "run", "--quiet", _written(sql, folder)])[0] for _ in range(rounds)]


def run_flink_cold(sql: str, rounds: int, python: str) -> list[Round]:
    """The same on Flink, with its state on the heap."""
    with tempfile.TemporaryDirectory(prefix="flinkplan-bench-") as folder:
        command = [python, str(HERE / "flink_job.py"), _written(sql, folder), "hashmap", "1"]
        return [process(command)[0] for _ in range(rounds)]


def _written(sql: str, folder: str) -> str:
    file = Path(folder, "job.sql")
    file.write_text(sql, encoding="utf-8")
    return str(file)


def process(command: list[str]) -> tuple[Round, int]:
    """What a process took, and all that it started, and the most bytes of memory that one of them had.

    A JVM may outlive the process that has started it.  Raises :class:`subprocess.CalledProcessError` where that fails.
    """
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1)
    begin, used, memory = time.perf_counter(), 0.0, 0
    with tempfile.TemporaryFile("w+") as errors:
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        for pid, status, usage in _ends():
            if pid == running.pid:
                running.returncode = os.waitstatus_to_exitcode(status)
                seconds = time.perf_counter() - begin
            used += usage.ru_utime + usage.ru_stime
            memory = max(memory, usage.ru_maxrss << 10)
        if running.returncode:
            errors.seek(0)
            raise subprocess.CalledProcessError(running.returncode, command, stderr=errors.read())
    return Round(seconds, used), memory


def _ends() -> Iterator[tuple[int, int, resource.struct_rusage]]:
    """The ends of processes as they come, as long as there are any: also of those that have lost their parents."""
    while True:
        try:
            yield os.wait4(-1, 0)
        except ChildProcessError:
            return


def least(rounds: list[Round]) -> Round:
    """The best of all rounds but the first one."""
    return Round(min(r.seconds for r in rounds[1:]), min(r.processor for r in rounds[1:]))


class Report:
    """A table of queries: the first round, the best of the others, and those of other engines beside ours.

    Each row is told on standard error, too, as soon as it is there.
    """

    def __init__(self, title: str, others: list[str]) -> None:
        self._table = Table(title=title)
        self._others = others
        for column in ("query", "first", "warm", *(c for other in others for c in (other, f"ours ÷ {other}"))):
            self._table.add_column(column, justify="right")

    def add(self, query: str, ours: list[Round], others: dict[str, Round]) -> None:
        """A row: all rounds of ours, and the best of each other one."""
        best = least(ours)
        cells = [_shown(ours[0]), _shown(best)]
        for other in self._others:
            found = others.get(other)
            ratio = Round(*(a / b for a, b in zip(best, found, strict=True))) if found else None
            cells += [_shown(found), _shown(ratio)]
        self._tell(query, *cells)

    def fail(self, query: str, why: object) -> None:
        """A query that cannot be measured."""
        self._tell(query, str(why).splitlines()[0])

    def _tell(self, *cells: str) -> None:
        print(*cells, sep="  ", file=sys.stderr, flush=True)
        self._table.add_row(*cells)

    def print(self) -> None:
        """Print the table."""
        Console().print(self._table)


def _shown(of: Round | None) -> str:
    return "" if of is None else f"{of.seconds:.2f} ({of.processor:.2f})"


def script_over(data: Path, tables: Sequence[str], columns: str, result: str, query: str) -> str:
    """The script of a query over CSV files, a folder of ``data`` a table of these columns, whose rows go nowhere."""
    sources = (
        f"CREATE TABLE {table} ({columns}) WITH ('connector' = 'filesystem', 'path' = '{data / table}', "
        "'format' = 'csv');"
        for table in tables
    )
    sink = f"CREATE TABLE sink ({result}) WITH ('connector' = 'blackhole');"
    return "\n".join([*sources, sink, f"INSERT INTO sink {query};"]) + "\n"

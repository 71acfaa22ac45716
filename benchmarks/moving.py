"""Measures how a GROUP BY with many groups is moved from Flink to Spark, and back, each by the command that users run.

    benchmarks/moving.py --flink PYTHON [--entries 10000000] [--steps spark,flink,savepoint,checkpoint] [--data DIR]

``--flink`` names a Python that has apache-flink.  The savepoint is the one that Flink itself takes of the job without
rows, with the groups put into it.  The steps ``savepoint`` and ``checkpoint`` migrate that, and the checkpoint that
``spark`` has made, to a plan with one aggregate less and the others in another order.  Memory is that of all processes
together: the command, Spark and Flink.
"""

import argparse
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from flink_job import processor_seconds
from measuring import FLINKPLAN, script_over
from rich.console import Console
from rich.table import Table

from flinkplan.flink.empty_savepoint import RunnablePlan, empty_savepoints
from flinkplan.flink.writing import write_savepoint
from flinkplan.plan.document import dumps
from flinkplan.planner import compile_script
from flinkplan.state.form import JobState, Manifest, StateTable
from flinkplan.state.form_arrow import table_schema

STATE = "accState"
ROWS_A_BATCH = 1 << 14
SECONDS_BETWEEN_SAMPLES = 0.5
PROC = Path("/proc")
COLUMNS = "k BIGINT, v INT, t STRING"
QUERY = ("k BIGINT, n BIGINT, s INT, m STRING", "SELECT k, COUNT(*), SUM(v), MAX(t) FROM many GROUP BY k")


CHANGED = ("k BIGINT, s INT, n BIGINT", "SELECT k, SUM(v), COUNT(*) FROM many GROUP BY k")


class ManyGroups(JobState):
    """The state of a job, with so many entries in its accumulators."""

    def __init__(self, base: JobState, entries: int) -> None:
        self._base = base
        self._entries = entries

    @property
    def manifest(self) -> Manifest:
        return self._base.manifest

    def batches(self, table: StateTable) -> Iterator[pa.RecordBatch]:
        if table.name != STATE:
            yield from self._base.batches(table)
            return
        schema = table_schema(table)
        for first in range(0, self._entries, ROWS_A_BATCH):
            numbers = range(first, min(first + ROWS_A_BATCH, self._entries))
            columns = [_column(field.type, pa.array(numbers, pa.int64())) for field in schema]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _column(t: pa.DataType, numbers: pa.Array) -> pa.Array:
    """Values of a type, each made of a number."""
    if pa.types.is_struct(t):
        fields = list(t)
        return pa.StructArray.from_arrays([_column(field.type, numbers) for field in fields], fields=fields)
    if pa.types.is_int8(t):  # the kind of a row
        return pa.array([0] * len(numbers), t)
    return numbers.cast(t)


class Taken(NamedTuple):
    """What a command took: seconds, those of processor time, and the most bytes of memory of all processes together."""

    seconds: float
    processor: float
    memory: int


class Sampler:
    """Watches a process and all that it starts."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._processor: dict[int, float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.memory = 0
        self._thread.start()

    @property
    def processor(self) -> float:
        """The seconds of processor time of all, as far as they were seen."""
        return sum(self._processor.values())

    def end(self) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(SECONDS_BETWEEN_SAMPLES):
            total = 0
            for pid in self._processes():
                with suppress(OSError, ValueError, IndexError):  # it has ended
                    total += _memory(pid)
                    self._processor[pid] = processor_seconds(pid)
            self.memory = max(self.memory, total)

    def _processes(self) -> list[int]:
        children: dict[int, list[int]] = {}
        for place in PROC.iterdir():
            with suppress(OSError, ValueError):
                parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(place.name))
        found = [self._pid]
        for pid in found:
            found += children.get(pid, [])
        return found


def _memory(pid: int) -> int:
    """The bytes of memory of a process; of what several share, its part."""
    lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))


def measure(arguments: Sequence[object]) -> Taken:
    """What the command ``flinkplan`` takes.  Raises :class:`subprocess.CalledProcessError` where it fails."""
    command = [str(FLINKPLAN), *map(str, arguments)]
    begin = time.perf_counter()
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    sampler = Sampler(running.pid)
    try:
        if running.wait():
            raise subprocess.CalledProcessError(running.returncode, command)
        seconds = time.perf_counter() - begin
    finally:
        sampler.end()
    return Taken(seconds, sampler.processor, sampler.memory)


def prepare(folder: Path, entries: int, flink: str) -> None:
    """Write the plan, the changed one, and the savepoint, which is kept for later runs."""
    plan = compile_script(script_over(folder, ("many",), COLUMNS, *QUERY))
    changed = compile_script(script_over(folder, ("many",), COLUMNS, *CHANGED))
    (folder / "many").mkdir(parents=True, exist_ok=True)
    (folder / "plan.json").write_text(dumps(plan), encoding="utf-8")
    (folder / "changed.json").write_text(dumps(changed), encoding="utf-8")
    if not (folder / "savepoint").exists():
        (empty,) = empty_savepoints([RunnablePlan(plan)], flink)
        with empty:
            write_savepoint(ManyGroups(empty, entries), folder / "savepoint", flink)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--flink", required=True)
    parser.add_argument("--entries", type=int, default=10_000_000)
    parser.add_argument("--steps", default="spark,flink,savepoint,checkpoint")
    parser.add_argument("--data", type=Path, default=Path("out/moving"))
    given = parser.parse_args()
    folder = (given.data / str(given.entries)).absolute()
    prepare(folder, given.entries, given.flink)
    plan, changed, flink = folder / "plan.json", folder / "changed.json", ("--flink", given.flink)
    moves = ("--restart-source", "many", *flink)
    steps: dict[str, tuple[str, str, list[Any]]] = {
        "spark": ("savepoint", "checkpoint", ["move", plan, "--to", "spark", *moves]),
        "flink": ("checkpoint", "savepoint-2", ["move", plan, "--to", "flink", *moves]),
        "savepoint": ("savepoint", "savepoint-3", ["migrate", changed, "--old", plan, *flink]),
        "checkpoint": ("checkpoint", "checkpoint-2", ["migrate", changed]),
    }
    table = Table(title=f"{given.entries:,} groups")
    for column in ("step", "seconds", "of processor time", "MB of memory"):
        table.add_column(column, justify="right")
    for step in given.steps.split(","):
        state, output, (command, *how) = steps[step]
        shutil.rmtree(folder / output, ignore_errors=True)
        took = measure([command, folder / state, *how, "-o", folder / output])
        cells = [f"{took.seconds:.0f}", f"{took.processor:.0f}", f"{took.memory >> 20:,}"]
        table.add_row(step, *cells)
        print(step, *cells, f"load {os.getloadavg()[0]:.1f}", sep="  ", file=sys.stderr, flush=True)
    Console().print(table)


if __name__ == "__main__":
    main()

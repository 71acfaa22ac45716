"""A job that is killed again and again writes what one that is never killed writes.

A join, an aggregation and a window write files.  ``FLINKPLAN_KILLS`` sets how often the process is killed, with
SIGKILL at random moments; ``make soak`` kills 200 times.  While one process works, the next one starts its JVM and
waits for its turn, so that a kill costs little more than the work between two of them.  The last one ends the input.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flinkplan.plan.document import save
from flinkplan.planner import compile_script
from tests.compat.pipelines import JOIN, JOIN_COLUMNS, SUMS, SUMS_COLUMNS, TABLES, WINDOW, WINDOW_COLUMNS
from tests.compat.truths import order, shipment

pytestmark = pytest.mark.spark

KILLS = int(os.environ.get("FLINKPLAN_KILLS", "20"))
BATCHES_A_ROUND, ROWS = 6, 25
SEED = int(os.environ.get("FLINKPLAN_SEED", "7"))
CONF = {"spark.sql.shuffle.partitions": "1"}
SINKS = {
    "joined": (JOIN, JOIN_COLUMNS),
    "summed": (SUMS, SUMS_COLUMNS),
    "windowed": (WINDOW, WINDOW_COLUMNS),
}


def pipeline() -> str:
    """One statement set over tables that are watched for new files."""
    watched = TABLES.replace("'format' = 'json')", "'format' = 'json', 'source.monitor-interval' = '100 ms')")
    tables, inserts = [watched], []
    for name, (query, columns) in SINKS.items():
        options = f"'connector' = 'filesystem', 'path' = '${{DIR}}/out/{name}', 'format' = 'debezium-json'"
        tables.append(f"CREATE TABLE {name} ({columns}) WITH ({options});")
        inserts.append(f"INSERT INTO {name} {query};")
    return "\n".join([*tables, "EXECUTE STATEMENT SET BEGIN", *inserts, "END;"])


def feed(folder: Path, number: int) -> None:
    """Add the files ``number`` of both tables, each whole at once; the orders' times go on and on."""
    ids = range(number * ROWS, (number + 1) * ROWS)
    rows: dict[str, list[Any]] = {
        "orders": [
            order(i, product=f"p{i % 7}", amount=i % 5, ts=f"2020-01-01 {i // 60 % 24:02}:{i % 60:02}:00") for i in ids
        ],
        "shipments": [shipment(i - i % 3, cost=i % 11) for i in ids],
    }
    for table, its in rows.items():
        hidden = folder / "in" / table / f".{number:06}"
        hidden.parent.mkdir(parents=True, exist_ok=True)
        hidden.write_text("".join(json.dumps(row) + "\n" for row in its))
        hidden.rename(hidden.with_name(f"{number:06}"))


class Worker:
    """A process, with its JVM in a process group of its own, that executes the plan once it is told to.

    It says of each batch when it is done.
    """

    def __init__(self, folder: Path, work: Path, mode: str) -> None:
        arguments = ["execute", str(folder / "plan.json"), "--mode", mode, "--log-format", "json"]
        arguments += ["--checkpoint", str(work / "checkpoint"), "--var", f"DIR={work}"]
        code = (
            "from flinkplan.cli.main import main; from flinkplan.executor.session import session; "
            f"session('local[2]', {CONF!r}); print('ready', flush=True); input(); main({arguments!r})"
        )
        command = [sys.executable, "-c", code]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )

    def begin(self) -> None:
        """Let it execute the plan, as soon as its JVM is up."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def batch(self) -> None:
        """Wait until it has done a batch."""
        assert self.process.stdout is not None
        assert self.process.stdout.readline(), "the job ended by itself"

    def wait(self, seconds: float) -> None:
        """Let it work on for a while."""
        with pytest.raises(subprocess.TimeoutExpired):
            self.process.wait(seconds)

    def kill(self) -> None:
        """End the process and its JVM at once."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def finish(self) -> None:
        """Let it work through all that is there."""
        self.begin()
        self.process.communicate()
        assert self.process.returncode == 0


def written(work: Path) -> dict[str, Counter[tuple[Any, ...]]]:
    """The rows that each sink's changelog leaves, with how often; a row taken back too often counts below zero."""
    found = {}
    for name in SINKS:
        rows: Counter[tuple[Any, ...]] = Counter()
        for change in _changes(work / "out" / name):
            row, sign = (change["after"], 1) if change["op"] == "c" else (change["before"], -1)
            rows[tuple(row.values())] += sign
        found[name] = Counter({row: count for row, count in rows.items() if count})
    return found


def _changes(folder: Path) -> Iterator[dict[str, Any]]:
    for file in folder.rglob("*"):
        if file.is_file() and not file.name.startswith("."):
            yield from map(json.loads, file.read_text().splitlines())


def test_nothing_is_lost_and_nothing_comes_twice(tmp_path: Path) -> None:
    moments = random.Random(SEED)
    save(compile_script(pipeline()), tmp_path / "plan.json")
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    fed = 0
    worker = Worker(tmp_path, killed, "streaming")
    for kills in range(1, KILLS + 1):
        following = Worker(tmp_path, killed, "streaming" if kills < KILLS else "bounded")
        feed(killed, fed)
        fed += 1
        worker.begin()
        for _ in range(moments.randint(0, BATCHES_A_ROUND)):
            worker.batch()
            feed(killed, fed)
            fed += 1
        worker.wait(moments.uniform(0, 1))
        worker.kill()
        worker = following
    worker.finish()
    for number in range(fed):
        feed(whole, number)
    Worker(tmp_path, whole, "bounded").finish()
    assert written(killed) == written(whole)
    assert all(written(whole).values())

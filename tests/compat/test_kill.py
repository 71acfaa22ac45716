"""A job that is killed again and again writes what one that is never killed writes.

An aggregation over a join, and a window, write files.  ``FLINKPLAN_KILLS`` sets how often the process is killed, with
SIGKILL at random moments: while it starts, within a batch, or between two; ``make soak`` kills 200 times.  Each process
has another number of cores, and cuts its input into as many tasks.  The last one ends the input.

What costs is a JVM that starts.  So the uninterrupted run, which comes first, leaves an archive of the classes that
it has loaded, with which the others start in half the time; and while one process works, the next one starts and waits.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from flinkplan.plan.document import save
from flinkplan.planner import compile_script
from tests.compat.pipelines import TABLES, WINDOW, WINDOW_COLUMNS
from tests.compat.truths import order, shipment

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("processes")]

KILLS = int(os.environ.get("FLINKPLAN_KILLS", "10"))
BATCHES = (0, 0, 1, 2, 3)
"""How many batches a process may do before it is killed; one that does none is killed while it starts."""
PATIENCE, START_UP = 1.0, 4.0
"""Seconds within which it is killed after a batch, or from its start on."""
ROWS = 25
START = datetime(2020, 1, 1)
SEED = int(os.environ.get("FLINKPLAN_SEED", "7"))
BRIEF = "-Duser.timezone=UTC -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+IgnoreUnrecognizedVMOptions"
"""How a JVM starts that lives for seconds."""
ARCHIVED = "-Xshare:auto -Xlog:disable -Xlog:all=error:stderr"
"""Share classes where that can be done, and keep standard output to the job."""
CORES = (1, 2, 4)
SINKS = {
    "copied": ("SELECT id, product, amount FROM orders", "id BIGINT, product STRING, amount INT"),
    "summed": (
        "SELECT o.product, SUM(o.amount), MAX(s.cost) FROM orders o JOIN shipments s ON o.id = s.order_id "
        "GROUP BY o.product",
        "product STRING, amount INT, cost DECIMAL(10, 2)",
    ),
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
        "orders": [order(i, product=f"p{i % 7}", amount=i % 5, ts=str(START + timedelta(minutes=i))) for i in ids],
        "shipments": [shipment(i - i % 3, cost=i % 11) for i in ids],
    }
    for table, its in rows.items():
        hidden = folder / "in" / table / f".{number:06}"
        hidden.parent.mkdir(parents=True, exist_ok=True)
        hidden.write_text("".join(json.dumps(row) + "\n" for row in its))
        hidden.rename(hidden.with_name(f"{number:06}"))


class Worker:
    """A process, with its JVM in a process group of its own, that executes the plan once it is told to.

    It says of each batch when it is done.  ``java`` are options of its JVM.
    """

    def __init__(self, folder: Path, work: Path, mode: str, cores: int, java: str) -> None:
        arguments = ["execute", str(folder / "plan.json"), "--mode", mode, "--log-format", "json"]
        arguments += ["--checkpoint", str(work / "checkpoint"), "--var", f"DIR={work}"]
        conf = {
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.files.minPartitionNum": str(cores),
            "spark.driver.extraJavaOptions": f"{BRIEF} {java}",
        }
        code = (
            "from flinkplan.cli.main import main; from flinkplan.executor.session import session; "
            f"session('local[{cores}]', {conf!r}); print('ready', flush=True); input(); main({arguments!r})"
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
        """Let it work through all that is there, and its JVM end."""
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
    batches = [moments.choice(BATCHES) for _ in range(KILLS)]
    save(compile_script(pipeline()), tmp_path / "plan.json")
    killed, whole, classes = tmp_path / "killed", tmp_path / "whole", tmp_path / "classes.jsa"

    for number in range(KILLS + sum(batches)):
        feed(whole, number)
    Worker(tmp_path, whole, "bounded", 2, f"-XX:ArchiveClassesAtExit={classes}").finish()
    assert all(written(whole).values())

    java = f"{ARCHIVED} -XX:SharedArchiveFile={classes}"
    numbers = itertools.count()
    worker = Worker(tmp_path, killed, "streaming", moments.choice(CORES), java)
    for kills, count in enumerate(batches, 1):
        mode = "streaming" if kills < KILLS else "bounded"
        following = Worker(tmp_path, killed, mode, moments.choice(CORES), java)
        feed(killed, next(numbers))
        worker.begin()
        for _ in range(count):
            worker.batch()
            feed(killed, next(numbers))
        worker.wait(moments.uniform(0, PATIENCE if count else START_UP))
        worker.kill()
        worker = following
    worker.finish()
    assert written(killed) == written(whole)

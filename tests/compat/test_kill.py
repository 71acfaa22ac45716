"""A job that is killed again and again writes what one that is never killed writes.

A join, an aggregation and a window write files.  ``FLINKPLAN_KILLS`` sets how often the process is killed, with
SIGKILL at random moments; ``make soak`` kills 200 times.
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

KILLS = int(os.environ.get("FLINKPLAN_KILLS", "2"))
FILES_A_ROUND, ROWS = 4, 25
SEED = 7
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


def start(folder: Path, work: Path, mode: str) -> subprocess.Popen[str]:
    """A process, with its JVM in a process group of its own, that says when a batch is done."""
    arguments = ["execute", str(folder / "plan.json"), "--mode", mode, "--log-format", "json"]
    arguments += ["--checkpoint", str(work / "checkpoint"), "--var", f"DIR={work}", "--master", "local[2]"]
    code = f"from flinkplan.cli.main import main; main({arguments!r})"
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True)


def kill(process: subprocess.Popen[str]) -> None:
    """End the process and its JVM at once."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def finish(folder: Path, work: Path) -> None:
    """Run over what is left of the input."""
    process = start(folder, work, "available-now")
    process.communicate()
    assert process.returncode == 0


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
    for _ in range(KILLS):
        feed(killed, fed)
        process = start(tmp_path, killed, "streaming")
        assert process.stdout is not None
        for _ in range(moments.randint(0, FILES_A_ROUND)):
            process.stdout.readline()
            fed += 1
            feed(killed, fed)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(moments.uniform(0, 2))
        kill(process)
        fed += 1
    finish(tmp_path, killed)
    for number in range(fed):
        feed(whole, number)
    finish(tmp_path, whole)
    assert written(killed) == written(whole)
    assert all(written(whole).values())

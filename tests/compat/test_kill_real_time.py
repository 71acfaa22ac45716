"""A job in real-time mode that is killed again and again writes what its input comes to, as if it had never been.

An aggregation, a join and a Top-N read files as they grow, several at a time, and write files.  The process is killed
with SIGKILL once while it starts and once behind a batch, when its queries are within other ones.  ``FLINKPLAN_KILLS``
is how often it is at random moments: while it starts, within a batch of one of its queries, or while another one is
committed; ``make soak`` kills 200 times.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from flinkplan.executor.jvm.session import PARTITIONS, REAL_TIME_CONF
from flinkplan.plan.document import save
from flinkplan.planner import compile_script
from tests.killing import SEED, Work, Worker, changes, kill_in_real_time, left

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("processes")]

MOMENTS = random.Random(SEED)
BATCHES = (0, 1, 1, 2, 3, 4, 5)
"""How many batches the queries of a process may have done before it is killed."""
KILLS = [MOMENTS.choice(BATCHES) for _ in range(int(os.environ.get("FLINKPLAN_KILLS", "0")))] or [1, 0]
"""After how many batches it is killed, each time."""
INTERVAL = 5.0
"""Seconds between checkpoints."""
ROWS = 4000
"""Rows for each process."""
FILE = 3000
"""Rows of a file, of which two grow at once."""
SLOTS = 7
"""Each query has a task for each source and one behind its shuffle."""
END = 300.0
"""Seconds that the last process has for what the others have left."""
TABLES = """
    CREATE TABLE events (id INT, k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '${DIR}/in/events',
        'format' = 'json', 'source.monitor-interval' = '100 ms');
    CREATE TABLE names (k STRING, name STRING) WITH ('connector' = 'filesystem', 'path' = '${DIR}/in/names',
        'format' = 'json', 'source.monitor-interval' = '100 ms');
"""
SINKS = {
    "summed": ("SELECT k, COUNT(*), SUM(v) FROM events GROUP BY k", "k STRING, n BIGINT, s INT"),
    "joined": ("SELECT id, name FROM events JOIN names ON events.k = names.k", "id INT, name STRING"),
    "highest": (
        "SELECT k, id, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, id) AS r FROM events) "
        "WHERE r <= 2",
        "k STRING, id INT, v INT",
    ),
}


def pipeline() -> str:
    """One statement set; its sources' files grow."""
    tables, inserts = [TABLES], []
    for name, (query, columns) in SINKS.items():
        options = f"'connector' = 'filesystem', 'path' = '${{DIR}}/out/{name}', 'format' = 'debezium-json'"
        tables.append(f"CREATE TABLE {name} ({columns}) WITH ({options});")
        inserts.append(f"INSERT INTO {name} {query};")
    return "\n".join([*tables, "EXECUTE STATEMENT SET BEGIN", *inserts, "END;"])


def events(rows: int) -> list[dict[str, Any]]:
    """What comes in."""
    chosen = random.Random(SEED)
    return [{"id": i, "k": f"k{chosen.randrange(10)}", "v": chosen.randrange(1000)} for i in range(rows)]


def lines(rows: int) -> Iterator[tuple[str, str]]:
    """Each row's file and its line."""
    for row in events(rows):
        yield f"{row['id'] // FILE // 2:06}-{row['id'] % 2}", json.dumps(row) + "\n"


def prepare(folder: Path) -> Path:
    """The tables' folders; returns that of the rows."""
    for table in ("events", "names"):
        (folder / "in" / table).mkdir(parents=True)
    names = (json.dumps({"k": f"k{i}", "name": f"name {i}"}) + "\n" for i in range(10))
    (folder / "in" / "names" / "all").write_text("".join(names))
    return folder / "in" / "events"


@contextmanager
def feeding(folder: Path, rows: int) -> Iterator[Event]:
    """Rows are added to their files as long as it lasts, then the rest; a line is not always whole at once."""
    hurry, pause = Event(), random.Random(SEED)

    def feed() -> None:
        for number, (file, line) in enumerate(lines(rows)):
            cut = pause.randrange(len(line)) if number % 50 == 0 else len(line)
            for part in (line[:cut], line[cut:]):
                with (folder / file).open("a") as out:
                    out.write(part)
                if cut < len(line):
                    hurry.wait(pause.uniform(0, 0.2))

    thread = Thread(target=feed)
    thread.start()
    try:
        yield hurry
    finally:
        hurry.set()
        thread.join()


def test_nothing_is_lost_and_nothing_comes_twice_row_by_row(tmp_path: Path) -> None:
    rows = ROWS * (len(KILLS) + 1)
    save(compile_script(pipeline()), tmp_path / "plan.json")
    work = Work(tmp_path / "plan.json", tmp_path, {"DIR": str(tmp_path)})

    def following() -> Worker:
        options = ("--checkpoint-interval", f"{INTERVAL:g}s", "--conf", f"{PARTITIONS}=1")
        return work.worker("real-time", SLOTS, *options, conf=REAL_TIME_CONF)

    with feeding(prepare(tmp_path), rows) as hurry:
        worker = kill_in_real_time(following, KILLS, MOMENTS)
        hurry.set()
        worker.begin()
    wanted = expected(rows)
    end = time.monotonic() + END
    while (rows_written := written(tmp_path)) != wanted and time.monotonic() < end:
        worker.batch()
    worker.kill()
    assert rows_written == wanted
    assert sum(1 for _ in changes(tmp_path / "out" / "joined")) == rows
    assert sum(1 for _ in changes(tmp_path / "out" / "summed")) == 2 * rows - 10


def expected(rows: int) -> dict[str, Counter[tuple[Any, ...]]]:
    """The rows that each sink holds in the end."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in events(rows):
        groups.setdefault(row["k"], []).append(row)
    summed = ((k, len(group), sum(row["v"] for row in group)) for k, group in groups.items())
    joined = ((row["id"], f"name {k.removeprefix('k')}") for k, group in groups.items() for row in group)
    highest = (
        (k, row["id"], row["v"])
        for k, group in groups.items()
        for row in sorted(group, key=lambda row: (-row["v"], row["id"]))[:2]
    )
    return {"summed": Counter(summed), "joined": Counter(joined), "highest": Counter(highest)}


def written(folder: Path) -> dict[str, Counter[tuple[Any, ...]]]:
    """The rows that each sink's changelog leaves."""
    return {name: left(folder / "out" / name) for name in SINKS}

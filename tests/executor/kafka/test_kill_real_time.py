"""A job between topics of Kafka in real-time mode that is killed again and again leaves the rows of its input.

An aggregation and a join read topics that grow meanwhile and write others, which hold each row once where they are read
by key.  The process is killed as in ``tests/compat/test_kill_real_time.py``; ``FLINKPLAN_KILLS`` is how often, and
``make soak-kafka`` kills 50 times.
"""

from __future__ import annotations

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

from flinkplan.executor.jvm.session import PARTITIONS as SHUFFLE_PARTITIONS
from flinkplan.executor.jvm.session import REAL_TIME_CONF
from flinkplan.plan.document import save
from flinkplan.planner import compile_script
from tests.killing import SEED, Work, Worker, kill_in_real_time

from .apart import broker_apart
from .brokers import PARTITIONS, Broker

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("processes"),
    pytest.mark.nightly("jobs over files are killed in the same way, and real-time mode waits for checkpoints"),
]

MOMENTS = random.Random(SEED)
BATCHES = (0, 1, 1, 2, 3)
"""How many batches the queries of a process may have done before it is killed."""
KILLS = [MOMENTS.choice(BATCHES) for _ in range(int(os.environ.get("FLINKPLAN_KILLS", "0")))] or [1, 0]
"""After how many batches it is killed, each time."""
INTERVAL = 5.0
"""Seconds between checkpoints."""
MESSAGES, AT_ONCE, PAUSE = 1200, 40, 0.2
"""Messages for each process; so many are sent at once; seconds between two such."""
SLOTS = 8
"""A task for each source of a query, and one behind each shuffle."""
END = 300.0
"""Seconds that the last process has for what the others have left."""
KEYED = "'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json'"
PLAIN = "'connector' = 'kafka', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset'"
SINKS = {
    "summed": (
        "k STRING PRIMARY KEY NOT ENFORCED, n BIGINT, s INT",
        "SELECT k, COUNT(*), SUM(v) FROM events GROUP BY k",
    ),
    "joined": (
        "id INT PRIMARY KEY NOT ENFORCED, name STRING",
        "SELECT id, name FROM events JOIN names ON events.k = names.k",
    ),
}


def pipeline(servers: str) -> str:
    """One statement set between topics of the same names as its tables."""

    def table(name: str, columns: str, options: str) -> str:
        place = f"'topic' = 'real-time-kill-{name}', 'properties.bootstrap.servers' = '{servers}'"
        return f"CREATE TABLE {name} ({columns}) WITH ({options}, {place});"

    tables = [table("events", "id INT, k STRING, v INT", PLAIN), table("names", "k STRING, name STRING", PLAIN)]
    tables += [table(name, columns, KEYED) for name, (columns, _) in SINKS.items()]
    inserts = [f"INSERT INTO {name} {query};" for name, (_, query) in SINKS.items()]
    setting = "SET 'table.exec.sink.require-on-conflict' = 'false';"
    return "\n".join([setting, *tables, "EXECUTE STATEMENT SET BEGIN", *inserts, "END;"])


def events(count: int) -> list[dict[str, Any]]:
    """What comes in."""
    chosen = random.Random(SEED)
    return [{"id": i, "k": f"k{chosen.randrange(10)}", "v": chosen.randrange(1000)} for i in range(count)]


@contextmanager
def sending(broker: Broker, count: int) -> Iterator[Event]:
    """Messages are sent as long as it lasts, then the rest."""
    hurry, rows = Event(), events(count)

    def send() -> None:
        for number, start in enumerate(range(0, count, AT_ONCE)):
            some = rows[start : start + AT_ONCE]
            broker.put("real-time-kill-events", *some, partition=number % PARTITIONS)
            hurry.wait(PAUSE)

    thread = Thread(target=send)
    thread.start()
    try:
        yield hurry
    finally:
        hurry.set()
        thread.join()


def test_nothing_is_lost_and_read_by_key_nothing_comes_twice(tmp_path: Path) -> None:
    count = MESSAGES * (len(KILLS) + 1)
    with broker_apart() as process:
        broker = Broker(process.servers)
        broker.put("real-time-kill-names", *({"k": f"k{i}", "name": f"name {i}"} for i in range(10)))
        save(compile_script(pipeline(process.servers)), tmp_path / "plan.json")
        work = Work(tmp_path / "plan.json", tmp_path, {})

        def following() -> Worker:
            options = ("--checkpoint-interval", f"{INTERVAL:g}s", "--conf", f"{SHUFFLE_PARTITIONS}=1")
            return work.worker("real-time", SLOTS, *options, conf=REAL_TIME_CONF)

        with sending(broker, count) as hurry:
            worker = kill_in_real_time(following, KILLS, MOMENTS)
            hurry.set()
            worker.begin()
        wanted = expected(count)
        end = time.monotonic() + END
        while (rows := written(broker)) != wanted and time.monotonic() < end:
            worker.batch()
        worker.kill()
    assert rows == wanted


def expected(count: int) -> dict[str, dict[Any, dict[str, Any]]]:
    """The last value of each key in the end, by topic."""
    counts: Counter[str] = Counter()
    sums: Counter[str] = Counter()
    for row in events(count):
        counts[row["k"]] += 1
        sums[row["k"]] += row["v"]
    return {
        "summed": {k: {"k": k, "n": counts[k], "s": sums[k]} for k in counts},
        "joined": {r["id"]: {"id": r["id"], "name": f"name {r['k'].removeprefix('k')}"} for r in events(count)},
    }


def written(broker: Broker) -> dict[str, dict[Any, dict[str, Any]]]:
    """The last value of each key, by topic."""
    keys = {"summed": "k", "joined": "id"}
    return {
        name: {key[column]: value for key, value in broker.contents(f"real-time-kill-{name}")}
        for name, column in keys.items()
    }

"""Jobs in Spark's real-time mode."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flinkplan.executor.jobs.job import Job, JobOptions, execute
from flinkplan.executor.jvm.session import PARTITIONS
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan
from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner import compile_script

from .databases import Database
from .jobs import Place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("real-time")]
"""All tasks of such a job run at once, so that it waits for as long as anything else holds a slot of its session."""

PATIENCE = 120.0


@pytest.fixture
def place(spark: SparkSession, tmp_path: Path) -> Place:
    spark.sparkContext.cancelAllJobs()
    spark.conf.set(PARTITIONS, "1")  # commands that other tests of this process ran have set their default
    return Place(spark, tmp_path)


def plan(place: Place, query: str, format_: str = "json") -> Plan:
    """A query of ``events`` into files of changes."""
    return compile_script(f"""
        CREATE TABLE events (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{place.root / "in"}',
            'format' = '{format_}', 'source.monitor-interval' = '1 s');
        CREATE TABLE changes (k STRING, n BIGINT) WITH (
            'connector' = 'filesystem', 'path' = '{place.root / "out"}', 'format' = 'debezium-json');
        INSERT INTO changes {query};
    """)


@contextmanager
def running(place: Place, of: Plan) -> Iterator[Job]:
    """A job, stopped in the middle of a batch."""
    options = JobOptions(
        checkpoint=str(place.root / "checkpoint"),
        mode=Mode.REAL_TIME,
        checkpoint_interval=5.0,
        listener=place,
        spark=place.spark,
    )
    job = execute(of, options)
    try:
        yield job
    finally:
        job.stop()


def wait_for(job: Job, done: Callable[[], bool]) -> None:
    """Let a job run until something is so."""
    end = time.monotonic() + PATIENCE
    while not done():
        assert not job.wait(0.2)
        assert time.monotonic() < end


def add(place: Place, name: str, text: str) -> None:
    with (place.root / "in" / name).open("a") as file:
        file.write(text)


def changes(place: Place) -> list[tuple[str, int]]:
    """What was written: -1 before the number where it was taken back."""
    found = []
    for line in place.rows():
        row, sign = (line["after"], 1) if line["op"] == "c" else (line["before"], -1)
        found.append((row["k"], sign * row["n"]))
    return found


def test_every_change_comes_once_over_restarts(place: Place) -> None:
    counts = plan(place, "SELECT k, COUNT(*) FROM events GROUP BY k")
    journal = [("a", n) for count in range(1, 31) for n in (1 - count, count) if n]
    for come in (19, 39, 59):
        with running(place, counts) as job:
            add(place, "rows", "".join(json.dumps({"k": "a", "v": v}) + "\n" for v in range(10)))
            wait_for(job, lambda come=come: len(changes(place)) >= come)  # type: ignore[misc]
        assert changes(place) == journal[:come]


def test_rows_that_no_checkpoint_has_are_read_again(place: Place) -> None:
    counts = plan(place, "SELECT k, COUNT(*) FROM events GROUP BY k")
    with running(place, counts) as job:
        add(place, "rows", '{"k": "a", "v": 1}\n')
        wait_for(job, lambda: changes(place) == [("a", 1)])
        done = len(place.progress)
        wait_for(job, lambda: len(place.progress) > done)
        add(place, "rows", '{"k": "a", "v": 1}\n')
    with running(place, counts) as job:
        wait_for(job, lambda: len(changes(place)) >= 3)
    assert changes(place) == [("a", 1), ("a", -1), ("a", 2)]
    assert not list((place.root / "out").glob(".staging-*"))


def test_states_are_written_when_they_take_too_much_memory(place: Place) -> None:
    counts = plan(place, "SELECT k, COUNT(DISTINCT v) * COUNT(*) FROM events GROUP BY k")
    place.spark.conf.set("flinkplan.cached-bytes", "1")
    try:
        with running(place, counts) as job:
            add(place, "rows", "".join(f'{{"k": "{k}", "v": 1}}\n' for k in "abaab"))
            wait_for(job, lambda: len(changes(place)) == 8)
        with running(place, counts) as job:
            add(place, "rows", '{"k": "a", "v": 1}\n{"k": "a", "v": 2}\n')
            wait_for(job, lambda: len(changes(place)) == 12)
    finally:
        place.spark.conf.unset("flinkplan.cached-bytes")
    assert [n for k, n in changes(place) if k == "a"] == [1, -1, 2, -2, 3, -3, 4, -4, 10]
    assert [n for k, n in changes(place) if k == "b"] == [1, -1, 2]


def test_first_rows_of_a_top_n_are_written_and_read_again(place: Place) -> None:
    ranked = "SELECT *, ROW_NUMBER() OVER (ORDER BY v DESC) AS r FROM events"
    top = plan(place, f"SELECT k, CAST(v AS BIGINT) FROM ({ranked}) WHERE r <= 2", "debezium-json")

    def change(numbers: Iterable[int], op: str, image: str) -> None:
        rows = ({"op": op, "before": None, "after": None, image: {"k": "a", "v": n}} for n in numbers)
        add(place, "rows", "".join(json.dumps(row) + "\n" for row in rows))

    def is_first(number: int) -> bool:
        """Whether a number and the one before it are what is left of all changes."""
        left = Counter(abs(n) for _, n in changes(place) if n > 0)
        left.subtract(abs(n) for _, n in changes(place) if n < 0)
        return +left == {number: 1, number - 1: 1}

    place.spark.conf.set("flinkplan.cached-bytes", "1")
    try:
        with running(place, top) as job:
            change(range(1, 61), "c", "after")
            wait_for(job, lambda: is_first(60))
            change(range(60, 50, -1), "d", "before")
            wait_for(job, lambda: is_first(50))
    finally:
        place.spark.conf.unset("flinkplan.cached-bytes")
    with running(place, top) as job:
        change(range(50, 20, -1), "d", "before")
        wait_for(job, lambda: is_first(20))
    with running(place, top) as job:
        change(range(20, 10, -1), "d", "before")
        wait_for(job, lambda: is_first(10))


def test_a_ttl_counts_from_the_change_although_it_is_written_later(place: Place) -> None:
    counts = plan(place, "SELECT /*+ STATE_TTL('events' = '6 s') */ k, COUNT(*) FROM events GROUP BY k")
    with running(place, counts) as job:
        wait_for(job, lambda: bool(place.progress))  # a batch has begun just now
        add(place, "rows", '{"k": "a", "v": 1}\n')
        wait_for(job, lambda: changes(place) == [("a", 1)])
        expired = time.monotonic() + 6
        wait_for(job, lambda: time.monotonic() > expired)
        add(place, "rows", '{"k": "a", "v": 1}\n')
        wait_for(job, lambda: len(changes(place)) > 1)
    assert changes(place) == [("a", 1), ("a", 1)]


def test_files_are_read_as_they_are_written(place: Place) -> None:
    add(place, "1", '\ufeffa,1\r\n"b\nb",2\n"c')
    with running(place, plan(place, "SELECT k, CAST(v AS BIGINT) FROM events", "csv")) as job:
        wait_for(job, lambda: changes(place) == [("a", 1), ("b\nb", 2)])
        add(place, "1", 'c",3\nd,4')
        add(place, "2", "e,5\n")
        wait_for(job, lambda: len(changes(place)) == 4)
        add(place, "1", "4\n")
        wait_for(job, lambda: len(changes(place)) == 5)
    assert changes(place)[2:] == [("cc", 3), ("e", 5), ("d", 44)]


def test_what_goes_two_ways_is_read_for_each(place: Place) -> None:
    both = plan(place, "SELECT k, 1 FROM events WHERE v > 1 UNION ALL SELECT k, 2 FROM events")
    for runs in (1, 2):
        with running(place, both) as job:
            add(place, "rows", '{"k": "a", "v": 1}\n{"k": "b", "v": 2}\n')
            wait_for(job, lambda runs=runs: len(changes(place)) == 3 * runs)  # type: ignore[misc]
    assert sorted(changes(place)) == [("a", 2)] * 2 + [("b", 1)] * 2 + [("b", 2)] * 2


def timed(place: Place, query: str) -> Plan:
    """A query of ``events`` with event time into rows of text, number and time."""
    return compile_script(f"""
        CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
            'connector' = 'filesystem', 'path' = '{place.root / "in"}', 'format' = 'json',
            'source.monitor-interval' = '1 s');
        CREATE TABLE found (k STRING, n BIGINT, ts TIMESTAMP(3)) WITH (
            'connector' = 'filesystem', 'path' = '{place.root / "out"}', 'format' = 'csv');
        INSERT INTO found {query};
    """)


def add_timed(place: Place, *rows: tuple[str, int, int]) -> None:
    """Rows of key, value and second."""
    add(place, "0", "".join(f'{{"k": "{k}", "v": {v}, "ts": "2024-01-01 00:00:{s:02}"}}\n' for k, v, s in rows))


WINDOWS = """SELECT k, SUM(v), window_start FROM {}(TABLE events{}, DESCRIPTOR(ts), {})
    WHERE v > 0 GROUP BY k, window_start, window_end"""
SUMS = WINDOWS.format("TUMBLE", "", "INTERVAL '10' SECOND").replace("SUM(v)", "window_end, SUM(v) AS n")
TIMED = {
    WINDOWS.format("TUMBLE", "", "INTERVAL '10' SECOND"): ({"a 4 00", "b 2 00"}, {"c 4 10", "a 9 20"}),
    WINDOWS.format("HOP", "", "INTERVAL '5' SECOND, INTERVAL '10' SECOND"): (
        {"a 1 55", "b 2 55", "a 4 00", "b 2 00", "a 3 05", "c 4 05"},
        {"c 4 10", "a 9 15", "a 9 20"},
    ),
    WINDOWS.format("SESSION", " PARTITION BY k", "INTERVAL '5' SECOND"): (
        {"a 1 01", "b 2 02", "a 3 09"},
        {"c 4 13", "a 9 20"},
    ),
    "SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC) AS r "
    "FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) WHERE r = 1": ({"a 3 09"}, {"c 4 13", "a 9 20"}),
    "SELECT k, SUM(part), TUMBLE_START(ts, INTERVAL '10' SECOND) FROM (SELECT k, ts, part FROM events CROSS JOIN "
    "UNNEST(CASE WHEN v > 0 THEN ARRAY[v, 1] ELSE CAST(NULL AS ARRAY<INT>) END) AS t (part)) GROUP BY k, "
    "TUMBLE(ts, INTERVAL '10' SECOND)": ({"a 6 00", "b 3 00"}, {"c 5 10", "a 10 20"}),
    "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts), ts FROM events WHERE v > 0": (
        {"a 1 01", "b 2 02", "a 4 09", "c 4 13"},
        {"a 13 20"},
    ),
}
"""Queries, and what has come when the watermark is at 15 s, and between that and 40 s.  Rows before it are late."""


@pytest.mark.parametrize("query", TIMED)
def test_windows_fire_as_soon_as_the_watermark_has_passed_and_go_on_after_a_restart(place: Place, query: str) -> None:
    def found() -> set[str]:
        return {" ".join((k, n, ts.strip('"')[-2:])) for k, n, ts in (line.split(",") for line in place.lines())}

    first, then = TIMED[query]
    add_timed(place, ("a", 1, 1), ("b", 2, 2), ("a", 3, 9), ("c", 4, 13), ("x", -1, 15))
    with running(place, timed(place, query)) as job:
        wait_for(job, lambda: found() == first)
    with running(place, timed(place, query)) as job:
        add_timed(place, ("a", 5, 8), ("a", 9, 20), ("x", -1, 40))
        wait_for(job, lambda: found() == first | then)


def test_windows_before_1970_wait_for_a_watermark_behind_it_as_in_flink(place: Place) -> None:
    times = (("1969-12-31 23:59:55", 1), ("1969-12-31 23:59:51", 2), ("1970-01-01 00:00:20", 4))
    add(place, "0", "".join(f'{{"k": "a", "v": {v}, "ts": "{ts}"}}\n' for ts, v in times))
    with running(place, timed(place, WINDOWS.format("TUMBLE", "", "INTERVAL '10' SECOND"))) as job:
        wait_for(job, lambda: place.lines() != [])
    assert [line.split(",")[:2] for line in place.lines()] == [["a", "3"]]


CLOCKED = {
    "SELECT k, COUNT(*), SUM(v) FROM TUMBLE(TABLE kept, DESCRIPTOR(p), INTERVAL '2' SECOND) "
    "GROUP BY k, window_start, window_end": lambda runs: {"1a": 2 * runs, "1b": runs},
    "SELECT k, COUNT(*) OVER w, SUM(v) OVER w FROM kept WINDOW w AS (PARTITION BY k ORDER BY p)": lambda runs: {
        "1a": runs * (2 * runs + 1),
        "1b": runs * (runs + 1) // 2,
    },
}
"""Queries by the clock, and the sum of each key's counts after one or two runs."""


@pytest.mark.parametrize("query", CLOCKED)
def test_rows_are_due_by_the_clock_whether_others_come_or_not(place: Place, query: str) -> None:
    of = compile_script(f"""
        CREATE TABLE events (k STRING, v INT, p AS PROCTIME()) WITH ('connector' = 'filesystem',
            'path' = '{place.root / "in"}', 'format' = 'json', 'source.monitor-interval' = '1 s');
        CREATE TABLE found (k STRING, n BIGINT, s INT) WITH (
            'connector' = 'filesystem', 'path' = '{place.root / "out"}', 'format' = 'csv');
        CREATE VIEW kept AS SELECT CAST(CHAR_LENGTH(k) AS STRING) || k AS k, v * 2 AS v, p FROM events WHERE v > 0;
        INSERT INTO found {query};
    """)

    def total(column: int) -> Counter[str]:
        found: Counter[str] = Counter()
        for row in (line.split(",") for line in place.lines()):
            found[row[0]] += int(row[column])
        return found

    for runs in (1, 2):
        with running(place, of) as job:
            rows = (("a", 1), ("b", 1), ("a", 0), ("a", 1))
            add(place, "rows", "".join(f'{{"k": "{k}", "v": {v}}}\n' for k, v in rows))
            counts = CLOCKED[query](runs)
            wait_for(job, lambda counts=counts: total(1) == counts)  # type: ignore[misc]
        assert total(2) == {key: 2 * count for key, count in counts.items()}


def test_rows_of_a_database_change_as_rows_come(place: Place, database: Database) -> None:
    database.execute("CREATE TABLE counted (k VARCHAR(9) PRIMARY KEY, n BIGINT)")
    table = database.table("counted", "k STRING PRIMARY KEY NOT ENFORCED, n BIGINT", sink_buffer__flush_interval="9 ms")
    counts = compile_script(f"""
        CREATE TABLE events (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{place.root / "in"}',
            'format' = 'json', 'source.monitor-interval' = '1 s');
        {table.replace("${URL}", database.url)}
        INSERT INTO counted SELECT k, COUNT(*) FROM events GROUP BY k;
    """)
    for runs in (1, 2):
        with running(place, counts) as job:
            add(place, "rows", "".join(f'{{"k": "{k}"}}\n' for k in "abaa"))
            wanted = [["a", str(3 * runs)], ["b", str(runs)]]
            wait_for(job, lambda wanted=wanted: database.rows("SELECT * FROM counted ORDER BY k") == wanted)  # type: ignore[misc]


def test_a_checkpoint_is_of_one_mode(place: Place) -> None:
    some = plan(place, "SELECT k, CAST(v AS BIGINT) FROM events")
    with running(place, some):
        pass
    with pytest.raises(FlinkplanError, match="it cannot go on in the mode streaming"):
        place.start(some, Mode.STREAMING)


def test_too_few_slots_are_an_error_before_anything_runs(place: Place) -> None:
    names = "CREATE TABLE names (k STRING) WITH ('connector' = 'datagen');"
    joined = compile_script(f"""{names}
        CREATE TABLE others (k STRING) WITH ('connector' = 'datagen');
        CREATE TABLE nowhere (k STRING) WITH ('connector' = 'blackhole');
        INSERT INTO nowhere SELECT names.k FROM names JOIN others ON names.k = others.k;
    """)
    with pytest.raises(FlinkplanError, match="1 slots are missing"), running(place, joined):
        pass
    assert not (place.root / "checkpoint").exists()

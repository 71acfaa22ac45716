"""Sources for which the watermark does not wait: without rows, or with the clock for a watermark (FLIP-326)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from flinkplan.executor.build.time.event_time import SHIFT_MS
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.modes import Mode
from flinkplan.planner import compile_script

from .jobs import Place

pytestmark = pytest.mark.spark

TIMEOUT = 1000
SESSION = {"table.exec.source.idle-timeout": "1 ms"}


class Clock:
    """Two sources that tell what they do, and the polls that ask for what to show in their place.

    The watermark of each may be switched to the system's clock.
    """

    def __init__(self, place: Place, *, timeouts: tuple[int, int] = (0, 0), flushes: bool = False) -> None:
        session: Any = place.spark
        assert session._jvm is not None
        self._runtime = session._jvm.flinkplan.runtime
        self.watermarks = self._runtime.watermark.SourceWatermarks(flushes)
        self.switches = [self._runtime.source.Switch(name) for name in "ab"]
        self.sources = [
            self.watermarks.add(session._jsparkSession, number, timeout, self.switches[number])
            for number, timeout in enumerate(timeouts)
        ]

    def rows(self, **watermarks: int) -> None:
        for name, watermark in watermarks.items():
            self.sources["ab".index(name)].add(watermark)

    def switch(self, *names: str) -> None:
        """Let the clock be the watermark of sources."""
        for name in names:
            self.switches["ab".index(name)].go()

    def poll(self, now: int, clock: int = 0) -> dict[str, int]:
        """The watermarks shown in the place of sources, when the system's clock shows ``clock``."""
        return {"ab"[number]: time - SHIFT_MS for number, time in dict(self.watermarks.times(now, clock)).items()}

    def at(self, now: int, clock: int = 0) -> dict[str, int]:
        """The same, polled twice: as where a trigger had no rows."""
        self.poll(now, clock)
        return self.poll(now, clock)


def test_a_source_is_idle_after_its_timeout(place: Place) -> None:
    clock = Clock(place, timeouts=(TIMEOUT, TIMEOUT))
    clock.rows(a=100, b=50)
    assert clock.at(0) == {}
    clock.rows(a=200)
    assert clock.at(TIMEOUT - 1) == {}
    clock.rows(a=300)
    assert clock.at(TIMEOUT) == {"b": 300}
    clock.rows(a=400)
    assert clock.at(TIMEOUT + 1) == {"b": 400}


def test_a_source_is_active_with_its_next_row(place: Place) -> None:
    clock = Clock(place, timeouts=(TIMEOUT, TIMEOUT))
    clock.rows(a=100, b=50)
    clock.at(0)
    clock.rows(a=200)
    assert clock.at(TIMEOUT) == {"b": 200}
    clock.rows(a=300, b=60)
    assert clock.at(2 * TIMEOUT) == {}
    clock.rows(a=400)
    assert clock.at(3 * TIMEOUT) == {"b": 400}


def test_a_source_may_have_rows_until_it_was_last_polled(place: Place) -> None:
    """A batch that takes longer than the timeout has not yet told of the rows that came meanwhile."""
    clock = Clock(place, timeouts=(TIMEOUT, TIMEOUT))
    clock.rows(a=100, b=50)
    clock.at(0)
    clock.rows(a=200)
    assert clock.poll(5 * TIMEOUT) == {}
    clock.rows(b=150)
    assert clock.poll(6 * TIMEOUT) == {}


def test_a_source_that_never_had_rows_is_idle(place: Place) -> None:
    clock = Clock(place, timeouts=(TIMEOUT, TIMEOUT))
    clock.at(0)
    clock.rows(a=100)
    assert clock.at(TIMEOUT) == {"b": 100}


def test_without_a_timeout_a_source_is_waited_for(place: Place) -> None:
    clock = Clock(place, timeouts=(TIMEOUT, 0))
    clock.rows(a=100, b=50)
    clock.at(0)
    clock.rows(a=200)
    assert clock.at(10 * TIMEOUT) == {}
    clock.rows(b=300)
    assert clock.at(20 * TIMEOUT) == {"a": 300}


def test_a_source_that_is_ahead_needs_no_help(place: Place) -> None:
    clock = Clock(place, timeouts=(TIMEOUT, TIMEOUT))
    clock.rows(a=100, b=500)
    clock.at(0)
    clock.rows(a=200)
    assert clock.at(TIMEOUT) == {}


@pytest.mark.parametrize(("flushes", "shown"), [(True, {"b": 100}), (False, {})])
def test_once_all_are_idle_a_union_takes_the_highest_watermark(
    flushes: bool, shown: dict[str, int], place: Place
) -> None:
    clock = Clock(place, timeouts=(TIMEOUT, TIMEOUT), flushes=flushes)
    clock.rows(a=100, b=50)
    clock.at(0)
    assert clock.at(TIMEOUT) == shown


T1, T2, NOW = 1000, 2000, 5000


@pytest.mark.parametrize(
    ("first", "second", "combined"),
    [
        ((T1, True), (T2, True), "clock"),
        ((T1, True), (T2, False), T2),
        ((T1, False), (T2, True), T1),
        ((T1, False), (T2, False), min(T1, T2)),
    ],
)
def test_the_flip_s_table(first: tuple[int, bool], second: tuple[int, bool], combined: int | str, place: Place) -> None:
    """What two inputs, each a time and whether it goes by the clock, come to."""
    session: Any = place.spark
    watermark = session._jvm.flinkplan.runtime.watermark.Watermark
    inputs = session._jvm.java.util.ArrayList()
    for given in (first, second):
        inputs.add(watermark(*given))
    found = watermark.combined(inputs)
    assert ("clock" if found.useProcessingTime() else found.time()) == combined


def test_a_watermark_by_the_clock_stays_that(place: Place) -> None:
    session: Any = place.spark
    watermark = session._jvm.flinkplan.runtime.watermark.Watermark
    clock = watermark(T1, False).then(watermark.CLOCK, T1)
    assert (clock.time(), clock.useProcessingTime()) == (T1, True)
    with pytest.raises(Exception, match="by event time comes behind one by processing time"):
        clock.then(watermark(T2, False), NOW)


def test_the_clock_must_not_be_behind_the_last_watermark(place: Place) -> None:
    clock = Clock(place)
    clock.rows(a=T2, b=T1)
    clock.switch("a")
    with pytest.raises(Exception, match=r"1970-01-01T00:00:02Z, and is to be .* shows 1970-01-01T00:00:01Z: it would"):
        clock.poll(0, T1)


def test_a_source_by_the_clock_is_passed_by(place: Place) -> None:
    """The other one's watermark is shown in its place, also where it is ahead of the clock."""
    clock = Clock(place)
    clock.rows(a=T1, b=T2)
    clock.switch("a")
    assert clock.poll(0, T1) == {"a": T2}
    clock.rows(b=T2 + 1)
    assert clock.poll(0, NOW) == {"a": T2 + 1}


def test_once_all_go_by_the_clock_it_is_shown_for_all(place: Place) -> None:
    clock = Clock(place)
    clock.rows(a=T1, b=T2)
    clock.switch("a", "b")
    assert clock.poll(0, NOW) == {"a": NOW, "b": NOW}
    assert clock.poll(0, NOW + 199) == {"a": NOW, "b": NOW}
    assert clock.poll(0, NOW + 200) == {"a": NOW + 200, "b": NOW + 200}


def test_the_clock_passes_idle_sources_by_for_ever(place: Place) -> None:
    """What is idle is no input of the table; once the clock counts, rows that come again do not stop it."""
    clock = Clock(place, timeouts=(0, TIMEOUT))
    clock.rows(a=T1, b=T1)
    clock.switch("a")
    assert clock.at(0, NOW) == {}
    assert clock.at(TIMEOUT, NOW) == {"a": NOW, "b": NOW}
    clock.rows(b=T2)
    assert clock.at(TIMEOUT, NOW + 200) == {"a": NOW + 200, "b": NOW + 200}


def test_the_clock_goes_on_after_a_restart(place: Place) -> None:
    clock = Clock(place)
    clock.watermarks.goByClock()
    assert clock.poll(0, NOW) == {"a": NOW, "b": NOW}


TABLES = """
CREATE TABLE a (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem',
  'path' = '{root}/in', 'format' = 'json', 'source.monitor-interval' = '100 ms' {options});
CREATE TABLE b (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem',
  'path' = '{root}/other', 'format' = 'json', 'source.monitor-interval' = '100 ms' {options});
CREATE TABLE o (k STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '{root}/out', 'format' = 'json');
INSERT INTO o {query};
"""
UNION = """SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE {v}, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
  GROUP BY k, window_start, window_end"""
VIEW = "CREATE TEMPORARY VIEW v AS SELECT * FROM a UNION ALL SELECT * FROM b;"
WINDOW_JOIN = """SELECT COALESCE(l.k, r.k), 1 FROM (SELECT * FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts),
  INTERVAL '1' MINUTE))) l FULL JOIN (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '1' MINUTE))) r
  ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end"""
INTERVAL_JOIN = "SELECT a.k, 1 FROM a LEFT JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' SECOND"


def _watch(
    place: Place, query: str, options: str, session: Mapping[str, str], until: Callable[[list[str]], bool]
) -> list[str]:
    """Run a query in streaming mode until its lines are as wanted, and take these."""
    (place.root / "other").mkdir()
    tables = TABLES.replace("INSERT", f"{VIEW} INSERT") if "v," in query else TABLES
    plan = compile_script(tables.format(root=place.root, options=options, query=query))
    place.put("1", *({"k": k, "ts": f"2024-01-01 10:0{k}:00"} for k in range(4)))
    checkpoint = str(place.root / "checkpoint")
    job = execute(plan, JobOptions(checkpoint=checkpoint, mode=Mode.STREAMING, options=session, spark=place.spark))
    try:
        while not until(place.lines()):
            job.wait(0.1)
    finally:
        job.stop()
    return sorted(json.loads(line)["k"] for line in place.lines())


@pytest.mark.parametrize(
    ("query", "options", "session"),
    [
        pytest.param(UNION.format(v="v"), "", SESSION, id="union"),
        pytest.param(UNION.format(v="v"), ", 'scan.watermark.idle-timeout' = '1 ms'", {}, id="table option"),
        pytest.param(WINDOW_JOIN, "", SESSION, id="window join"),
        pytest.param(INTERVAL_JOIN, "", SESSION, id="interval join"),
    ],
)
def test_an_idle_source_holds_nothing_back(query: str, options: str, session: Mapping[str, str], place: Place) -> None:
    assert _watch(place, query, options, session, lambda lines: len(lines) == 3) == ["0", "1", "2"]

"""What legacy group windows emit, and when; each step goes on from restored state.

The rows of event-time windows, and what Flink emits for them, are those of a run of Flink's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from flinkplan.plan.nodes import GroupWindowAggregate
from flinkplan.plan.record import replace
from flinkplan.plan.settings import LOCAL_TIME_ZONE
from flinkplan.plan.specs import (
    AggregateCall,
    GroupWindow,
    NamedWindowProperty,
    SessionGroupWindow,
    TimeField,
    TumblingGroupWindow,
    WindowProperty,
    WindowReference,
)
from flinkplan.plan.types import BIGINT, INT, STRING, LogicalType, TimeKind, row, timestamp, timestamp_ltz

from ..building import build
from ..conftest import Bench
from ..plans import refusal
from .event_time import ROWTIME, timed_source

pytestmark = pytest.mark.spark

EVENTS = row([("k", STRING), ("ts", ROWTIME), ("v", INT)])
CLOCKED = row([("k", STRING), ("p", timestamp_ltz(3, kind=TimeKind.PROCTIME)), ("v", INT)])

ROWS = (
    ("a", 0, 1),
    ("b", 10, 2),
    ("a", 65, 3),
    ("a", 100, 4),
    ("a", 20, 5),
    ("b", 30, 6),
    ("a", 400, 7),
    ("a", 70, 8),
    ("b", 350, 9),
    ("a", 405, 10),
)
"""Keys, seconds and values; the watermark is 5 seconds behind."""

EARLY = {"table.exec.emit.early-fire.enabled": "true", "table.exec.emit.early-fire.delay": "0 ms"}
LATE = {
    "table.exec.emit.late-fire.enabled": "true",
    "table.exec.emit.late-fire.delay": "0 ms",
    "table.exec.emit.allow-lateness": "5 min",
}


def call(name: str, *arguments: int, of: LogicalType, distinct: bool = False) -> AggregateCall:
    return AggregateCall(
        name=None,
        internal_name=f"${name}$1",
        arg_list=arguments,
        filter_arg=-1,
        distinct=distinct,
        approximate=False,
        ignore_nulls=False,
        type=of,
    )


CALLS = (call("COUNT", of=BIGINT), call("SUM", 2, of=INT))


def node(window: GroupWindow, *calls: AggregateCall) -> GroupWindowAggregate:
    """Windows by the first column; their starts stand behind the results."""
    results = [(f"r{i}", c.type) for i, c in enumerate(calls)]
    return GroupWindowAggregate(
        id=1,
        version=1,
        grouping=(0,),
        agg_calls=calls,
        window=window,
        named_window_properties=(NamedWindowProperty("ws", WindowProperty("WindowStart", REFERENCE)),),
        need_retraction=False,
        output_type=row([("k", STRING), *results, ("ws", timestamp(3))]),
    )


REFERENCE = WindowReference("w", ROWTIME)


def tumble(size: str, of: LogicalType) -> TumblingGroupWindow:
    return TumblingGroupWindow(REFERENCE, TimeField("ts", 1, 0, of.field_types[1]), True, size)


def run(bench: Bench, options: Mapping[str, str], *steps: int) -> list[list[tuple[Any, ...]]]:
    """What comes out of :data:`ROWS`, so many a step, in windows of a minute: key by key, the start as its minute."""
    source = timed_source(bench, "events", EVENTS, 1, delay=5_000)
    context = replace(bench.context, query=replace(bench.context.query, options=options))
    stream = build(node(tumble("PT1M", EVENTS), *CALLS), (source,), context)
    waiting = list(ROWS)
    emitted = []
    for count in steps:
        rows, waiting = waiting[:count], waiting[count:]
        bench.put("events", *((k, f"2024-01-01T00:{s // 60:02}:{s % 60:02}Z", v) for k, s, v in rows))
        changes = [(*out[:-1], int(out[-1][14:16])) for out in bench.step(stream)]
        emitted.append(sorted(changes, key=lambda change: change[1]))
    return emitted


def test_results_come_at_the_end_and_late_rows_are_dropped(bench: Bench) -> None:
    assert run(bench, {}, 4, 6) == [
        [("+I", "a", 1, 1, 0)],
        [("+I", "a", 2, 7, 1), ("+I", "b", 1, 2, 0)],
    ]


@pytest.mark.parametrize("journal", [True, False])
def test_late_rows_update_results_that_are_out(journal: bool, bench: Bench) -> None:
    if journal:
        bench.keep_journal()
    assert run(bench, LATE, 10) == [
        [
            ("+I", "a", 1, 1, 0),
            ("-U", "a", 1, 1, 0),
            ("+U", "a", 2, 6, 0),
            ("+I", "a", 2, 7, 1),
            ("-U", "a", 2, 7, 1),
            ("+U", "a", 3, 15, 1),
            ("+I", "b", 1, 2, 0),
            ("-U", "b", 1, 2, 0),
            ("+U", "b", 2, 8, 0),
            ("+I", "b", 1, 9, 5),
        ]
    ]


def test_late_rows_update_results_of_earlier_batches(bench: Bench) -> None:
    assert run(bench, LATE, 4, 2, 4) == [
        [("+I", "a", 1, 1, 0)],
        [
            ("-U", "a", 1, 1, 0),
            ("+U", "a", 2, 6, 0),
            ("+I", "b", 1, 2, 0),
            ("-U", "b", 1, 2, 0),
            ("+U", "b", 2, 8, 0),
        ],
        [("+I", "a", 2, 7, 1), ("-U", "a", 2, 7, 1), ("+U", "a", 3, 15, 1), ("+I", "b", 1, 9, 5)],
    ]


def test_each_row_updates_an_open_window(bench: Bench) -> None:
    bench.keep_journal()
    assert run(bench, EARLY, 4) == [
        [
            ("+I", "a", 1, 1, 0),
            ("+I", "a", 1, 3, 1),
            ("-U", "a", 1, 3, 1),
            ("+U", "a", 2, 7, 1),
            ("+I", "b", 1, 2, 0),
        ]
    ]


def test_the_changes_of_a_batch_come_to_one(bench: Bench) -> None:
    assert run(bench, EARLY, 3, 1) == [
        [("+I", "a", 1, 1, 0), ("+I", "a", 1, 3, 1), ("+I", "b", 1, 2, 0)],
        [("-U", "a", 1, 3, 1), ("+U", "a", 2, 7, 1)],
    ]


def test_a_delay_that_has_not_passed_changes_nothing(bench: Bench) -> None:
    delayed = {**EARLY, "table.exec.emit.early-fire.delay": "1 h"}
    assert run(bench, delayed, 4) == [[("+I", "a", 1, 1, 0)]]


def test_distinct_values_are_kept_by_window(bench: Bench) -> None:
    source = timed_source(bench, "events", EVENTS, 1, delay=5_000)
    distinct = call("COUNT", 2, of=BIGINT, distinct=True)
    stream = build(node(tumble("PT1M", EVENTS), distinct), (source,), bench.context)
    bench.put("events", ("a", "2024-01-01T00:00:00Z", 1), ("a", "2024-01-01T00:01:00Z", 1))
    assert bench.step(stream) == []
    bench.put("events", ("a", "2024-01-01T00:00:59Z", 1), ("a", "2024-01-01T00:01:01Z", 2))
    assert bench.step(stream) == []
    bench.put("events", ("b", "2024-01-01T00:09:00Z", 1))
    assert bench.step(stream) == []
    bench.put("events", ("b", "2024-01-01T00:09:01Z", 1))
    assert [out[2] for out in bench.step(stream)] == [1, 2]


@pytest.mark.parametrize(
    ("options", "window", "message"),
    [
        (EARLY, SessionGroupWindow(REFERENCE, TimeField("ts", 1, 0, ROWTIME), "PT1M"), "sessions emit at their end"),
        ({**LATE, "table.exec.emit.allow-lateness": "0 s"}, tumble("PT1M", EVENTS), "allow-lateness"),
        ({**LATE, "table.exec.emit.late-fire.delay": "6 min"}, tumble("PT1M", EVENTS), "longer than"),
        ({"table.exec.emit.early-fire.enabled": "true"}, tumble("PT1M", EVENTS), "early-fire.delay"),
    ],
)
def test_options_that_contradict_each_other(options: Mapping[str, str], window: GroupWindow, message: str) -> None:
    assert message in refusal(node(window, *CALLS), EVENTS, options=options)


def test_windows_over_processing_time_close_when_the_clock_says_so(bench: Bench) -> None:
    """The bench's clock starts at 1,000 seconds after 1970; New York's wall clock is 5 hours behind."""
    context = replace(bench.context, query=replace(bench.context.query, options={LOCAL_TIME_ZONE: "America/New_York"}))
    source = bench.source("events", CLOCKED)
    stream = build(node(tumble("PT1M", CLOCKED), *CALLS), (source,), context)
    bench.put("events", ("a", None, 1), ("a", None, 2))
    assert bench.step(stream) == []
    bench.put("events", ("b", None, 4))
    assert bench.step(stream, at=19_998) == []
    bench.put("events", ("c", None, 8))
    closed = bench.step(stream, at=20_000)
    assert sorted(closed) == [
        ("+I", "a", 2, 3, "1969-12-31 19:16:00"),
        ("+I", "b", 1, 4, "1969-12-31 19:16:00"),
    ]


def test_sessions_over_processing_time(bench: Bench) -> None:
    session = SessionGroupWindow(REFERENCE, TimeField("p", 1, 0, CLOCKED.field_types[1]), "PT1M")
    source = bench.source("events", CLOCKED)
    stream = build(node(session, *CALLS), (source,), bench.context)
    for at, value in ((0, 1), (50_000, 2)):
        bench.put("events", ("a", None, value))
        assert bench.step(stream, at=at) == []
    bench.put("events", ("b", None, 4))
    assert [out[1:4] for out in bench.step(stream, at=120_000)] == [("a", 2, 3)]

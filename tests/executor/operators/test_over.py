"""What OVER windows emit as the watermark, a minute behind the rows, moves; each step goes on from restored state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from flinkplan.plan.nodes import Deduplicate, OverAggregate
from flinkplan.plan.record import replace
from flinkplan.plan.rex import InputRef, Literal
from flinkplan.plan.specs import AggregateCall, OverBound, OverGroup, OverSpec, PartitionSpec, SortField, SortSpec
from flinkplan.plan.types import BIGINT, INT, STRING, LogicalType, TimeKind, row, timestamp

from ..building import build
from ..conftest import Bench
from ..plans import refusal
from .event_time import ROWTIME, minute, timed_source

pytestmark = pytest.mark.spark

EVENTS = row([("k", STRING), ("ts", ROWTIME), ("v", INT)])
CURRENT_ROW = OverBound("CURRENT_ROW")
UNBOUNDED = OverBound("UNBOUNDED_PRECEDING", is_preceding=True)

STEPS: Sequence[Sequence[tuple[str, int, int]]] = (
    [("a", 1, 10), ("b", 1, 7), ("a", 2, 20), ("a", 2, 30), ("a", 4, 5)],
    [("a", 9, 1)],
    [("b", 1, 100), ("b", 3, 200)],
    [("c", 20, 0)],
    [("c", 21, 0)],
)
"""Per step the keys, minutes and values of rows; those of the third are late, the second after all of its key."""


def call(name: str, *arguments: int, of: LogicalType = INT, distinct: bool = False) -> AggregateCall:
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


def over(
    calls: Sequence[AggregateCall],
    rows: bool,
    preceding: int | None,
    *,
    lower: OverBound = UNBOUNDED,
    upper: OverBound = CURRENT_ROW,
    constants: Sequence[Literal] = (),
    order: int = 1,
    of: LogicalType = EVENTS,
) -> OverAggregate:
    """A node over rows of ``of`` by key; ``preceding`` is the last of its constants."""
    width = len(of.fields)
    if preceding is not None:
        lower = OverBound("BOUNDED_WINDOW", is_preceding=True, offset=InputRef(width + len(constants), BIGINT))
        constants = (*constants, Literal(preceding, BIGINT))
    group = OverGroup(SortSpec((SortField(order, True, False),)), rows, lower, upper, tuple(calls))
    results = [(f"w{i}", c.type) for i, c in enumerate(calls)]
    return OverAggregate(
        id=1,
        version=1,
        over_spec=OverSpec(PartitionSpec((0,)), (group,), tuple(constants), width),
        output_type=row([*((f.name, f.type) for f in of.fields), *results]),
    )


def run(
    node: OverAggregate,
    bench: Bench,
    steps: Sequence[Sequence[tuple[str, int, int]]] = STEPS,
    behind: OverAggregate | Deduplicate | None = None,
) -> list[list[tuple[Any, ...]]]:
    """Per step what comes out of the last node: value and results."""
    source = timed_source(bench, "events", EVENTS, 1, delay=60_000)
    stream = build(node, (source,), bench.context)
    if behind is not None:
        stream = build(behind, (stream,), bench.context)
    emitted = []
    for rows in steps:
        bench.put("events", *((k, minute(m), v) for k, m, v in rows))
        emitted.append([row[3:] for row in bench.step(stream)])
    return emitted


FRAMES: dict[str, tuple[bool, int | None, list[list[tuple[int, int]]]]] = {
    "RANGE unbounded shares equal times and drops what the watermark has passed": (
        False,
        None,
        [[(10, 10)], [(7, 7), (20, 60), (30, 60)], [(5, 65)], [], [(1, 66)]],
    ),
    "ROWS unbounded tells equal times apart": (
        True,
        None,
        [[(10, 10)], [(7, 7), (20, 30), (30, 60)], [(5, 65)], [], [(1, 66)]],
    ),
    "RANGE of five minutes keeps late rows that are after the last ones of their key": (
        False,
        300_000,
        [[(10, 10)], [(7, 7), (20, 60), (30, 60)], [(5, 65)], [], [(200, 207), (1, 6)]],
    ),
    "RANGE of a minute lets rows leave, and forgets a key after one and a half": (
        False,
        60_000,
        [[(10, 10)], [(7, 7), (20, 60), (30, 60)], [(5, 5)], [], [(100, 100), (200, 200), (1, 1)]],
    ),
    "ROWS 1 preceding": (
        True,
        1,
        [[(10, 10)], [(7, 7), (20, 30), (30, 50)], [(5, 35)], [], [(200, 207), (1, 6)]],
    ),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames(name: str, bench: Bench) -> None:
    rows, preceding, expected = FRAMES[name]
    assert run(over([call("SUM", 2)], rows, preceding), bench) == expected


def test_late_rows_come_out_in_order_when_the_watermark_moves_on(bench: Bench) -> None:
    steps = ([("a", 4, 1)], [("a", 9, 2)], [("a", 7, 4)], [("a", 6, 8)], [("b", 20, 0)], [("b", 21, 0)])
    emitted = run(over([call("SUM", 2)], True, 3), bench, steps)
    assert emitted == [[], [], [(1, 1)], [], [], [(8, 9), (4, 13), (2, 15)]]


def test_a_late_row_waits_for_rows_of_earlier_times_which_other_keys_emit_with_the_watermark(bench: Bench) -> None:
    """In the first step, key a emits its rows up to minute 14, and its late row of minute 12, but key b none."""
    first = over([call("SUM", 2)], True, 3)
    second = over([call("SUM", 3)], True, 9, of=first.output_type)
    second = replace(second, id=2, over_spec=replace(second.over_spec, partition=PartitionSpec(())))
    rows = [("b", 9, 1), ("a", 10, 2), ("a", 13, 4), ("a", 11, 8), ("a", 15, 16), ("a", 16, 32)]
    emitted = run(first, bench, (rows, [("c", 40, 0)]), second)
    assert emitted == [[], [(1, 1, 1), (2, 2, 3), (8, 10, 13), (4, 14, 27), (16, 30, 57)]]


def test_a_late_row_behind_the_first_one_of_its_key_is_not_counted(bench: Bench) -> None:
    """The first row is key b's, which comes out in the second step."""
    first = over([call("SUM", 2)], True, 3)
    deduplicate = Deduplicate(
        id=2,
        version=1,
        output_type=first.output_type,
        unique_keys=(),
        is_rowtime=True,
        keep_last_row=False,
        output_insert_only=True,
        generate_update_before=False,
    )
    rows = [("b", 9, 1), ("a", 13, 4), ("a", 11, 8), ("a", 15, 16), ("a", 16, 32)]
    assert run(first, bench, (rows, [("c", 40, 0)]), deduplicate) == [[], [(1, 1)]]
    assert bench.context.parts.late_counters[2].total() == 0


def test_functions_that_look_back_and_ranks_that_count_all_rows(bench: Bench) -> None:
    calls = [
        call("LAG", 2),
        call("LAG", 2, 3, 4),
        call("RANK", of=BIGINT),
        call("DENSE_RANK", of=BIGINT),
        call("COUNT", 2, of=BIGINT, distinct=True),
    ]
    node = over(calls, False, None, constants=(Literal(2, INT), Literal(-1, INT)))
    assert run(node, bench) == [
        [(10, None, -1, 1, 1, 1)],
        [(7, None, -1, 1, 1, 1), (20, 20, 10, 3, 3, 3), (30, 20, 10, 3, 3, 3)],
        [(5, 30, 20, 4, 4, 4)],
        [],
        [(1, 5, 30, 5, 5, 5)],
    ]


def test_rows_taken_out_of_a_frame_are_taken_back_from_every_function(bench: Bench) -> None:
    calls = [call("MIN", 2), call("MAX", 2), call("FIRST_VALUE", 2), call("COUNT", 2, of=BIGINT, distinct=True)]
    assert run(over(calls, True, 1), bench) == [
        [(10, 10, 10, 10, 1)],
        [(7, 7, 7, 7, 1), (20, 10, 20, 10, 2), (30, 20, 30, 20, 2)],
        [(5, 5, 30, 30, 2)],
        [],
        [(200, 7, 200, 7, 2), (1, 1, 5, 5, 2)],
    ]


def test_processing_time_emits_at_once(bench: Bench) -> None:
    clocked = row([("k", STRING), ("p", timestamp(3, kind=TimeKind.PROCTIME)), ("v", INT)])
    source = bench.source("events", clocked)
    stream = build(over([call("SUM", 2)], False, None), (source,), bench.context)
    bench.put("events", ("a", minute(2), 1), ("a", minute(1), 2))
    assert [row[3:] for row in bench.step(stream)] == [(1, 1), (2, 3)]
    bench.put("events", ("a", minute(0), 4))
    assert [row[3:] for row in bench.step(stream, at=1)] == [(4, 7)]


def test_rows_wait_where_the_clock_was_set_back(bench: Bench) -> None:
    clocked = row([("k", STRING), ("p", timestamp(3, kind=TimeKind.PROCTIME)), ("v", INT)])
    stream = build(over([call("SUM", 2)], True, 1), (bench.source("events", clocked),), bench.context)
    steps = []
    for at, v in ((5000, 1), (1000, 2), (6000, 4)):
        bench.put("events", ("a", minute(0), v))
        steps.append([row[3:] for row in bench.step(stream, at=at)])
    assert steps == [[(1, 1)], [], [(2, 3), (4, 6)]]


@pytest.mark.parametrize(("rows", "preceding", "last"), [(True, 1, 6), (False, None, 7)])
def test_processing_time_knows_no_late_rows(rows: bool, preceding: int | None, last: int, bench: Bench) -> None:
    both = row([("k", STRING), ("p", timestamp(3, kind=TimeKind.PROCTIME)), ("v", INT), ("ts", ROWTIME)])
    source = timed_source(bench, "events", both, 3)
    node = over([call("SUM", 2)], rows, preceding, of=both)
    stream = build(node, (source,), bench.context)
    bench.put("events", *(("a", minute(0), v, minute(m)) for v, m in ((1, 9), (2, 3), (4, 5))))
    assert [(row[3], row[5]) for row in bench.step(stream)] == [(1, 1), (2, 3), (4, last)]


def test_frames_that_end_elsewhere_are_refused() -> None:
    node = over([call("SUM", 2)], True, None, upper=OverBound("UNBOUNDED_FOLLOWING", is_preceding=False))
    assert "end with the current row" in refusal(node, EVENTS)


@pytest.mark.parametrize("rows", [True, False])
def test_frames_that_begin_with_the_current_row_are_refused(rows: bool) -> None:
    assert "begin with the current row" in refusal(over([call("SUM", 2)], rows, None, lower=CURRENT_ROW), EVENTS)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ((), "without an order"),
        ((SortField(1, False, True),), "downwards"),
        ((SortField(1, True, False), SortField(2, True, False)), "by more"),
    ],
)
def test_other_orders_by_time_are_refused(order: tuple[SortField, ...], message: str) -> None:
    node = over([call("SUM", 2)], True, None)
    group = replace(node.over_spec.groups[0], order_by=SortSpec(order))
    assert message in refusal(replace(node, over_spec=replace(node.over_spec, groups=(group,))), EVENTS)


BY_VALUE: dict[bool, list[tuple[list[tuple[str, int]], list[tuple[str, int, int]]]]] = {
    False: [
        ([("+I", 5), ("+I", 2)], [("+I", 2, 2), ("+I", 5, 7)]),
        ([("+I", 2)], [("+I", 2, 4), ("+U", 2, 4), ("+U", 5, 9), ("-U", 2, 2), ("-U", 5, 7)]),
        ([("-D", 2)], [("+U", 2, 2), ("+U", 5, 7), ("-D", 2, 4), ("-U", 2, 4), ("-U", 5, 9)]),
        ([("-U", 5), ("+U", 4)], [("+U", 4, 6), ("-D", 5, 7)]),
    ],
    True: [
        ([("+I", 5), ("+I", 2)], [("+I", 2, 2), ("+I", 5, 7)]),
        ([("+I", 2)], [("+I", 2, 4), ("+U", 5, 9), ("-U", 5, 7)]),
        ([("-D", 5)], [("-D", 5, 9)]),
    ],
}
"""For RANGE and ROWS, steps of rows by value and what they bring about, sorted."""


@pytest.mark.parametrize("rows", BY_VALUE, ids=["RANGE", "ROWS"])
def test_an_order_by_other_columns_updates_what_comes_behind(rows: bool, bench: Bench) -> None:
    source = bench.source("events", EVENTS, changelog=True)
    stream = build(over([call("SUM", 2)], rows, None, order=2), (source,), bench.context)
    for given, expected in BY_VALUE[rows]:
        bench.put("events", *((kind, "a", minute(1), v) for kind, v in given))
        assert sorted((kind, *values) for kind, _, _, *values in bench.step(stream)) == expected

"""What joins emit that the watermark cleans; each step goes on from restored state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from flinkplan.plan.nodes import IntervalJoin, TemporalJoin
from flinkplan.plan.rex import Call, InputRef
from flinkplan.plan.specs import IntervalJoinSpec, JoinSpec, JoinType, WindowBounds
from flinkplan.plan.types import BOOLEAN, INT, STRING, row

from ..building import build
from ..conftest import Bench
from ..plans import refusal
from .event_time import ROWTIME, minute, timed_source

pytestmark = pytest.mark.spark

LEFT = row([("k", STRING), ("lt", ROWTIME), ("v", INT)])
RIGHT = row([("k", STRING), ("rt", ROWTIME), ("w", INT)])
BOTH = row([(f.name, f.type) for f in LEFT.fields + RIGHT.fields])
V_LESS_THAN_W = Call("$<$1", (InputRef(2, INT), InputRef(5, INT)), BOOLEAN, "BINARY")

Rows = Sequence[tuple[Any, ...]]
Steps = Sequence[tuple[Mapping[str, Rows], Rows]]
"""Per step the rows (key, minute, value) put into each side, and the pairs of values that come out."""

LAST: Mapping[str, Rows] = {"left": [("z", 30, 0)], "right": [("z", 40, 0)]}
"""Rows that move both watermarks, and match nothing."""

WITHIN_A_MINUTE_BEFORE_AND_TWO_AFTER: Steps = (
    (
        {
            "left": [("a", 5, 1), ("b", 5, 2), (None, 5, 3)],
            "right": [("a", 4, 10), ("a", 6, 30), ("a", 7, 40), ("c", 5, 50), (None, 5, 60)],
        },
        [(1, 10), (1, 30)],
    ),
    ({"left": [("a", 9, 4)]}, [(4, 40)]),
    (LAST, []),
)

ALONE: dict[JoinType, Rows] = {
    JoinType.INNER: [],
    JoinType.LEFT: [(2, None), (3, None)],
    JoinType.RIGHT: [(None, 50), (None, 60)],
    JoinType.FULL: [(2, None), (3, None), (None, 50), (None, 60)],
}
"""What is emitted alone once both watermarks have passed."""


def run(node: Any, steps: Steps, bench: Bench, changelog: bool = False) -> list[Rows]:
    left = timed_source(bench, "left", LEFT, 1)
    right = timed_source(bench, "right", RIGHT, 1, changelog=changelog)
    joined = build(node, (left, right), bench.context)
    emitted: list[Rows] = []
    for rows, _ in steps:
        for side, added in rows.items():
            bench.put(side, *((*kind, k, minute(m), v) for *kind, k, m, v in added))
        emitted.append(sorted(((row[3], row[6]) for row in bench.step(joined)), key=str))
    return emitted


def by_interval(kind: JoinType, condition: Call | None = None) -> IntervalJoin:
    bounds = WindowBounds(True, -60_000, 120_000, 1, 1)
    spec = IntervalJoinSpec(JoinSpec(kind, (0,), (0,), (True,), condition), bounds)
    return IntervalJoin(id=1, version=1, interval_join_spec=spec, output_type=BOTH)


@pytest.mark.parametrize("kind", ALONE, ids=lambda kind: kind.name)
def test_interval_join(kind: JoinType, bench: Bench) -> None:
    flush = ({"left": [("y", 41, 0)]}, ALONE[kind])
    steps = (*WITHIN_A_MINUTE_BEFORE_AND_TWO_AFTER, flush)
    expected = [sorted(rows, key=str) for _, rows in steps]
    assert run(by_interval(kind), steps, bench) == expected


def test_the_condition_decides_what_an_interval_join_pads(bench: Bench) -> None:
    steps: Steps = (
        ({"left": [("a", 5, 20), ("a", 5, 1)], "right": [("a", 5, 10)]}, [(1, 10)]),
        (LAST, []),
        ({"left": [("y", 41, 0)]}, [(20, None)]),
    )
    node = by_interval(JoinType.LEFT, V_LESS_THAN_W)
    assert run(node, steps, bench) == [list(rows) for _, rows in steps]


def test_rows_of_one_source_are_late_for_both_sides(bench: Bench) -> None:
    source = timed_source(bench, "events", LEFT, 1)
    bench.put("events", ("a", minute(5), 1), ("a", minute(9), 2), ("a", minute(6), 3), ("a", minute(8), 4))
    joined = build(by_interval(JoinType.LEFT), (source, source), bench.context)
    pairs = [(1, 1), (2, 2), (2, 4), (3, None), (4, 2)]
    assert sorted((row[3], row[6]) for row in bench.step(joined)) == pairs


def by_version(kind: JoinType, right_time: int = 1) -> TemporalJoin:
    return TemporalJoin(
        id=1,
        version=1,
        join_spec=JoinSpec(kind, (0,), (0,), (True,), None),
        is_temporal_function_join=False,
        left_time_attribute_index=1,
        right_time_attribute_index=right_time,
        output_type=BOTH,
    )


VERSIONS: Steps = (
    (
        {
            "left": [("a", 6, 3), ("a", 2, 1), ("a", 4, 2), ("b", 5, 4)],
            "right": [("+I", "a", 3, 10), ("+U", "a", 5, 20), ("-D", "a", 8, 20)],
        },
        [],
    ),
    ({"left": [("a", 8, 5), ("z", 10, 0)], "right": [("+I", "z", 9, 0)]}, [(1, None), (2, 10), (3, 20), (4, None)]),
    ({"right": [("+I", "z", 11, 0)]}, [(5, None)]),
)
"""A left row is joined when both watermarks have reached it; a deletion ends a version."""


@pytest.mark.parametrize("kind", [JoinType.LEFT, JoinType.INNER], ids=lambda kind: kind.name)
def test_temporal_join(kind: JoinType, bench: Bench) -> None:
    padded = kind is JoinType.LEFT
    expected = [[pair for pair in rows if padded or pair[1] is not None] for _, rows in VERSIONS]
    assert run(by_version(kind), VERSIONS, bench, changelog=True) == expected


def test_a_temporal_join_in_processing_time_is_refused() -> None:
    assert "processing time" in refusal(by_version(JoinType.INNER, right_time=-1), LEFT, RIGHT)

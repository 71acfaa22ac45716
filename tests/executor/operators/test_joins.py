"""What regular joins emit, step by step; each step goes on from restored state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from flinkplan.plan.nodes import Join
from flinkplan.plan.rex import Call, InputRef
from flinkplan.plan.specs import JoinSpec, JoinType
from flinkplan.plan.types import BOOLEAN, INT, STRING, row

from ..building import build
from ..conftest import Bench

pytestmark = pytest.mark.spark

LEFT = row([("k", STRING), ("v", INT)])
RIGHT = row([("k", STRING), ("w", INT)])
V_LESS_THAN_W = Call("$<$1", (InputRef(1, INT), InputRef(3, INT)), BOOLEAN, "BINARY")

Steps = Sequence[tuple[str, Sequence[Any], list[tuple[Any, ...]]]]

CASES: dict[str, tuple[JoinType, Steps]] = {
    "inner: every pair once, NULL equals nothing": (
        JoinType.INNER,
        [
            ("left", [("+I", "a", 1), ("+I", None, 2)], []),
            (
                "right",
                [("+I", "a", 5), ("+I", None, 6), ("+I", "a", 7)],
                [("+I", "a", 1, "a", 5), ("+I", "a", 1, "a", 7)],
            ),
            ("left", [("-D", "a", 1)], [("-D", "a", 1, "a", 5), ("-D", "a", 1, "a", 7)]),
        ],
    ),
    "left: padded until the first match, and again after the last": (
        JoinType.LEFT,
        [
            ("left", [("+I", "a", 1), ("+I", None, 2)], [("+I", "a", 1, None, None), ("+I", None, 2, None, None)]),
            ("right", [("+I", "a", 5)], [("-D", "a", 1, None, None), ("+I", "a", 1, "a", 5)]),
            ("right", [("-D", "a", 5)], [("-D", "a", 1, "a", 5), ("+I", "a", 1, None, None)]),
        ],
    ),
    "full: both sides padded": (
        JoinType.FULL,
        [
            ("left", [("+I", "a", 1)], [("+I", "a", 1, None, None)]),
            ("right", [("+I", "b", 5)], [("+I", None, None, "b", 5)]),
            ("left", [("+I", "b", 2)], [("-D", None, None, "b", 5), ("+I", "b", 2, "b", 5)]),
        ],
    ),
    "semi: a row while anything matches": (
        JoinType.SEMI,
        [
            ("left", [("+I", "a", 1)], []),
            ("right", [("+I", "a", 5), ("+I", "a", 6)], [("+I", "a", 1)]),
            ("right", [("-D", "a", 5)], []),
            ("right", [("-D", "a", 6)], [("-D", "a", 1)]),
        ],
    ),
    "anti: a row while nothing matches": (
        JoinType.ANTI,
        [
            ("left", [("+I", "a", 1), ("+I", None, 2)], [("+I", "a", 1), ("+I", None, 2)]),
            ("right", [("+I", "a", 5)], [("-D", "a", 1)]),
            ("right", [("-D", "a", 5)], [("+I", "a", 1)]),
        ],
    ),
}


def check(
    join_type: JoinType, steps: Sequence[Any], bench: Bench, condition: Call | None = None, **fields: Any
) -> None:
    """The rows of each step's side bring about the rows that it expects; ``fields`` are further ones of the node."""
    left, right = bench.source("left", LEFT, changelog=True), bench.source("right", RIGHT, changelog=True)
    one_sided = join_type in (JoinType.SEMI, JoinType.ANTI)
    columns = LEFT.fields if one_sided else LEFT.fields + RIGHT.fields
    node = Join(
        id=1,
        version=1,
        join_spec=JoinSpec(join_type, (0,), (0,), (True,), condition),
        output_type=row([(f.name, f.type) for f in columns]),
        **fields,
    )
    joined = build(node, (left, right), bench.context)
    for side, rows, expected in steps:
        bench.put(side, *rows)
        assert bench.step(joined) == expected


@pytest.mark.parametrize("name", CASES)
def test_join(name: str, bench: Bench) -> None:
    check(*CASES[name], bench)


def test_a_condition_decides_what_matches_and_an_update_moves_the_row(bench: Bench) -> None:
    left, right = bench.source("left", LEFT, changelog=True), bench.source("right", RIGHT, changelog=True)
    node = Join(
        id=1,
        version=1,
        join_spec=JoinSpec(JoinType.LEFT, (0,), (0,), (True,), V_LESS_THAN_W),
        left_upsert_keys=((1,),),
        right_upsert_keys=((0,),),
        output_type=row([(f.name, f.type) for f in LEFT.fields + RIGHT.fields]),
    )
    joined = build(node, (left, right), bench.context)
    bench.put("left", ("+I", "a", 1), ("+I", "a", 8))
    bench.put("right", ("+I", "a", 5))
    assert bench.step(joined) == [
        ("+I", "a", 1, None, None),
        ("+I", "a", 8, None, None),
        ("-D", "a", 1, None, None),
        ("+I", "a", 1, "a", 5),
    ]
    bench.put("right", ("-U", "a", 5), ("+U", "a", 9))
    assert bench.step(joined) == [
        ("-D", "a", 1, "a", 5),
        ("+I", "a", 1, None, None),
        ("-D", "a", 1, None, None),
        ("+I", "a", 1, "a", 9),
        ("-D", "a", 8, None, None),
        ("+I", "a", 8, "a", 9),
    ]


UPDATES: dict[str, tuple[JoinType, Steps]] = {
    "inner": (
        JoinType.INNER,
        [
            ("left", [("+I", "a", 1)], []),
            ("right", [("+I", "a", 5)], [("+I", "a", 1, "a", 5)]),
            ("left", [("+U", "a", 2)], [("+U", "a", 2, "a", 5)]),
            ("left", [("+U", "a", 9)], [("-D", "a", 2, "a", 5)]),
            ("right", [("+U", "a", 10)], [("+I", "a", 9, "a", 10)]),
            ("right", [("+U", "a", 11)], [("+U", "a", 9, "a", 11)]),
            ("left", [("-D", "a", 9)], [("-D", "a", 9, "a", 11)]),
        ],
    ),
    "full": (
        JoinType.FULL,
        [
            ("left", [("+I", "a", 1)], [("+I", "a", 1, None, None)]),
            ("left", [("+U", "a", 2)], [("+U", "a", 2, None, None)]),
            ("right", [("+I", "a", 5)], [("-D", "a", 2, None, None), ("+I", "a", 2, "a", 5)]),
            ("right", [("+U", "a", 6)], [("+U", "a", 2, "a", 6)]),
            (
                "left",
                [("+U", "a", 9)],
                [("-D", "a", 2, "a", 6), ("+I", None, None, "a", 6), ("+I", "a", 9, None, None)],
            ),
            (
                "left",
                [("+U", "a", 3)],
                [("-D", "a", 9, None, None), ("-D", None, None, "a", 6), ("+I", "a", 3, "a", 6)],
            ),
        ],
    ),
    "semi": (
        JoinType.SEMI,
        [
            ("left", [("+I", "a", 1)], []),
            ("right", [("+I", "a", 5)], [("+I", "a", 1)]),
            ("left", [("+U", "a", 9)], [("-D", "a", 1)]),
            ("left", [("+U", "a", 2)], [("+U", "a", 2)]),
            ("right", [("+U", "a", 1)], [("-D", "a", 2)]),
            ("right", [("+U", "a", 7)], [("+I", "a", 2)]),
            ("right", [("+U", "a", 8)], []),
        ],
    ),
    "anti": (
        JoinType.ANTI,
        [
            ("left", [("+I", "a", 1)], [("+I", "a", 1)]),
            ("right", [("+I", "a", 5), ("+U", "a", 6)], [("-D", "a", 1)]),
            ("left", [("+U", "a", 9)], [("+U", "a", 9)]),
            ("left", [("+U", "a", 8)], [("+U", "a", 8)]),
            ("right", [("+U", "a", 10)], [("-D", "a", 8)]),
            ("left", [("+U", "a", 7)], []),
            ("right", [("+U", "a", 1)], [("+I", "a", 7)]),
        ],
    ),
}


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_without_the_row_before_leaves_an_update_or_a_deletion(name: str, bench: Bench) -> None:
    check(*UPDATES[name], bench, V_LESS_THAN_W, left_upsert_keys=((0,),), right_upsert_keys=((0,),))


@pytest.mark.parametrize("kept_by", [(0,), (1,)])
def test_an_insert_of_a_key_that_is_there_takes_its_place_and_retracts_nothing(
    kept_by: tuple[int, ...], bench: Bench
) -> None:
    left, right = bench.source("left", row([("k", STRING), ("id", INT), ("v", INT)])), bench.source("right", RIGHT)
    node = Join(
        id=1,
        version=1,
        join_spec=JoinSpec(JoinType.INNER, (0,), (0,), (True,), None),
        left_upsert_keys=(kept_by,),
        output_type=row([(f.name, f.type) for f in left.type.fields + RIGHT.fields]),
    )
    joined = build(node, (left, right), bench.context)
    bench.put("left", ("a", 1, 10), ("a", 1, 20))
    bench.put("right", ("a", 5))
    assert bench.step(joined) == [("+I", "a", 1, 20, "a", 5)]
    bench.put("left", ("a", 1, 30))
    assert bench.step(joined) == [("+I", "a", 1, 30, "a", 5)]


def test_of_two_inputs_rows_are_read_in_turn(bench: Bench) -> None:
    left, right = bench.source("left", LEFT, changelog=True), bench.source("right", RIGHT, changelog=True)
    node = Join(
        id=1,
        version=1,
        join_spec=JoinSpec(JoinType.INNER, (0,), (0,), (True,), None),
        output_type=row([(f.name, f.type) for f in LEFT.fields + RIGHT.fields]),
    )
    joined = build(node, (left, right), bench.context)
    bench.put("left", ("+I", "a", 1), ("+I", "a", 2), first=0)
    bench.put("right", ("+I", "a", 5), ("-D", "a", 5), first=0)
    assert bench.step(joined) == [
        ("+I", "a", 1, "a", 5),
        ("+I", "a", 2, "a", 5),
        ("-D", "a", 1, "a", 5),
        ("-D", "a", 2, "a", 5),
    ], "the second left row comes before the second right one"


def test_rows_of_a_key_that_comes_twice_are_joined_as_they_come(bench: Bench) -> None:
    left, right = bench.source("left", LEFT), bench.source("right", RIGHT)
    node = Join(
        id=1,
        version=1,
        join_spec=JoinSpec(JoinType.INNER, (0,), (0,), (True,), None),
        left_upsert_keys=((0,),),
        output_type=row([(f.name, f.type) for f in LEFT.fields + RIGHT.fields]),
    )
    joined = build(node, (left, right), bench.context)
    bench.put("left", ("a", 1), ("a", 2), first=0)
    bench.put("right", ("a", 5), ("a", 6), first=0)
    assert bench.step(joined) == [
        ("+I", "a", 1, "a", 5),
        ("+I", "a", 2, "a", 5),
        ("+I", "a", 2, "a", 6),
    ]

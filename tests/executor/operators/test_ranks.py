"""Which rows Top-N, LIMIT and deduplication keep, and how they are replaced."""

from __future__ import annotations

from typing import Any

import pytest

from flinkplan.executor.operators.ranks import deduplicate, limit, rank
from flinkplan.plan.nodes import Deduplicate, Limit, Rank
from flinkplan.plan.specs import (
    AppendFastStrategy,
    ConstantRankRange,
    PartitionSpec,
    RankStrategy,
    RetractStrategy,
    SortField,
    SortSpec,
)
from flinkplan.plan.types import BIGINT, INT, STRING, TimeKind, row, timestamp

from ..conftest import Bench

pytestmark = pytest.mark.spark

SCORES = row([("team", STRING), ("name", STRING), ("score", INT)])
NUMBERED = row([*((f.name, f.type) for f in SCORES.fields), ("rn", BIGINT)])


def top_two(strategy: RankStrategy, numbered: bool) -> Rank:
    return Rank(
        id=1,
        version=1,
        rank_type="ROW_NUMBER",
        partition=PartitionSpec((0,)),
        order_by=SortSpec((SortField(2, is_ascending=False, null_is_last=True),)),
        rank_range=ConstantRankRange(1, 2),
        rank_strategy=strategy,
        output_row_number=numbered,
        generate_update_before=True,
        output_type=NUMBERED if numbered else SCORES,
    )


def test_top_n_with_its_number_replaces_what_stands_at_a_place(bench: Bench) -> None:
    ranked = rank(top_two(AppendFastStrategy(), True), (bench.source("in", SCORES),), bench.context)
    bench.put("in", ("r", "Ada", 5), ("r", "Bob", 7), ("r", "Cy", 5))
    assert bench.step(ranked) == [("+I", "r", "Bob", 7, 1), ("+I", "r", "Ada", 5, 2)], "the earlier of equals stays"
    bench.put("in", ("r", "Di", 6))
    assert bench.step(ranked) == [("-U", "r", "Ada", 5, 2), ("+U", "r", "Di", 6, 2)]


def test_a_journal_gets_the_change_of_every_row(bench: Bench) -> None:
    bench.keep_journal()
    ranked = rank(top_two(AppendFastStrategy(), True), (bench.source("in", SCORES),), bench.context)
    bench.put("in", ("r", "Ada", 5), ("r", "Bob", 7), ("r", "Cy", 5))
    assert bench.step(ranked) == [
        ("+I", "r", "Ada", 5, 1),
        ("-U", "r", "Ada", 5, 1),
        ("+U", "r", "Bob", 7, 1),
        ("+I", "r", "Ada", 5, 2),
    ]


def test_top_n_without_its_number_promotes_the_next_when_a_row_is_taken_back(bench: Bench) -> None:
    source = bench.source("in", SCORES, changelog=True)
    ranked = rank(top_two(RetractStrategy(), False), (source,), bench.context)
    bench.put("in", ("+I", "r", "Ada", 5), ("+I", "r", "Bob", 7), ("+I", "r", "Cy", None))
    assert sorted(bench.step(ranked)) == [("+I", "r", "Ada", 5), ("+I", "r", "Bob", 7)]
    bench.put("in", ("-D", "r", "Bob", 7))
    assert bench.step(ranked) == [("-D", "r", "Bob", 7), ("+I", "r", "Cy", None)]


def test_limit_passes_the_first_rows_of_an_insert_only_stream(bench: Bench) -> None:
    node = Limit(
        id=1,
        version=1,
        rank_range=ConstantRankRange(2, 3),
        rank_strategy=AppendFastStrategy(),
        generate_update_before=False,
        output_type=SCORES,
    )
    limited = limit(node, (bench.source("in", SCORES),), bench.context)
    assert not limited.changelog
    bench.put("in", ("r", "Ada", 5), ("r", "Bob", 7))
    assert bench.step(limited) == [("+I", "r", "Bob", 7)]
    bench.put("in", ("r", "Cy", 9), ("r", "Di", 6))
    assert bench.step(limited) == [("+I", "r", "Cy", 9)]


EVENTS = row([("k", STRING), ("v", INT), ("ts", timestamp(3, kind=TimeKind.ROWTIME))])
EARLY, NOON, LATE = ("2024-01-01T06:00:00Z", "2024-01-01T12:00:00Z", "2024-01-01T18:00:00Z")


@pytest.mark.parametrize(
    ("is_rowtime", "keep_last", "emitted"),
    [
        (False, False, [("+I", 1)]),
        (False, True, [("+I", 1), ("-U", 1), ("+U", 2), ("-U", 2), ("+U", 3)]),
        (True, True, [("+I", 1), ("-U", 1), ("+U", 3)]),
        (True, False, [("+I", 1), ("-U", 1), ("+U", 2)]),
    ],
)
def test_deduplication(is_rowtime: bool, keep_last: bool, emitted: list[Any], bench: Bench) -> None:
    node = Deduplicate(
        id=1,
        version=1,
        unique_keys=(0,),
        is_rowtime=is_rowtime,
        keep_last_row=keep_last,
        output_insert_only=False,
        generate_update_before=True,
        output_type=EVENTS,
    )
    kept = deduplicate(node, (bench.source("in", EVENTS),), bench.context)
    bench.put("in", ("a", 1, NOON), ("a", 2, EARLY), ("a", 3, LATE))
    assert [(kind, v) for kind, _, v, _ in bench.step(kept)] == emitted

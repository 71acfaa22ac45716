"""Which rows Top-N, LIMIT and deduplication keep, and how they are replaced."""

from __future__ import annotations

import random
from typing import Any

import pytest

from flinkplan.plan.nodes import Deduplicate, Limit, Rank
from flinkplan.plan.record import replace
from flinkplan.plan.specs import (
    AppendFastStrategy,
    ConstantRankRange,
    PartitionSpec,
    RankStrategy,
    RetractStrategy,
    SortField,
    SortSpec,
    StateMetadata,
    VariableRankRange,
)
from flinkplan.plan.types import BIGINT, INT, STRING, TimeKind, row, timestamp

from ..building import build
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
    ranked = build(top_two(AppendFastStrategy(), True), (bench.source("in", SCORES),), bench.context)
    bench.put("in", ("r", "Ada", 5), ("r", "Bob", 7), ("r", "Cy", 5))
    assert bench.step(ranked) == [("+I", "r", "Bob", 7, 1), ("+I", "r", "Ada", 5, 2)], "the earlier of equals stays"
    bench.put("in", ("r", "Di", 6))
    assert bench.step(ranked) == [("-U", "r", "Ada", 5, 2), ("+U", "r", "Di", 6, 2)]


def test_rows_come_and_go_within_a_batch_and_between_batches(bench: Bench) -> None:
    ranked = build(top_two(AppendFastStrategy(), False), (bench.source("in", SCORES),), bench.context)
    bench.put("in", ("r", "Ada", 1), ("r", "Bob", 2), ("r", "Cy", 3), ("r", "Di", 4), ("r", "Eve", 2))
    assert sorted(bench.step(ranked)) == [("+I", "r", "Cy", 3), ("+I", "r", "Di", 4)]
    bench.put("in", ("r", "Flo", 3), ("r", "Di", 4), ("r", "Gus", 0))
    assert bench.step(ranked) == [("-D", "r", "Cy", 3), ("+I", "r", "Di", 4)], "a row can stand at both places"
    bench.put("in", ("r", "Di", 4), ("r", "Hal", 5))
    assert bench.step(ranked) == [("-D", "r", "Di", 4), ("+I", "r", "Hal", 5)]


def test_rows_behind_the_last_place_are_kept_where_rows_can_be_taken_back(bench: Bench) -> None:
    source = bench.source("in", SCORES, changelog=True)
    ranked = build(top_two(RetractStrategy(), True), (source,), bench.context)
    bench.put("in", *(("+I", "r", name, score) for score, name in enumerate("abcde")))
    assert bench.step(ranked) == [("+I", "r", "e", 4, 1), ("+I", "r", "d", 3, 2)]
    bench.put("in", ("-D", "r", "e", 4), ("-D", "r", "b", 1), ("-D", "r", "d", 3))
    changes = bench.step(ranked)
    assert [c for c in changes if c[0] == "+U"] == [("+U", "r", "c", 2, 1), ("+U", "r", "a", 0, 2)]


EDITED = ("0 ms", "1 h", "1 h", "0 ms", "0 ms", "1 h")


@pytest.mark.parametrize("ttls", [("0 ms",) * len(EDITED), EDITED], ids=["for ever", "edited"])
def test_of_many_rows_the_first_are_always_known(bench: Bench, ttls: tuple[str, ...]) -> None:
    """Rows come and go, first many, then few, until none is left, and the TTL is edited over the checkpoint."""
    chosen = random.Random(7)
    source = bench.source("in", SCORES, changelog=True)
    there: list[tuple[str, str, int]] = []
    seen: dict[int, tuple[str, str, int]] = {}
    for ttl, coming, going in zip(ttls, (120, 30, 60, 2, 40, 0), (20, 90, 30, 50, 20, 42), strict=True):
        node = replace(top_two(RetractStrategy(), True), state=(StateMetadata(0, ttl, "rankState"),))
        changes: list[tuple[str, str, str, int]] = []
        for kind in chosen.sample(["+I"] * coming + ["-D"] * going, coming + going):
            if kind == "+I" or not there:
                kind, row = "+I", ("r", chosen.choice("abc"), chosen.randrange(12))
                there.append(row)
            else:
                best = sorted(there, key=lambda row: -row[2])
                row = chosen.choice((best[0], chosen.choice(best)))
                there.remove(row)
            changes.append((kind, *row))
        bench.put("in", *changes)
        for kind, *values, place in bench.step(build(node, (source,), bench.context)):
            if kind in ("+I", "+U"):
                seen[place] = tuple(values)
            elif kind == "-D":
                del seen[place]
        first = sorted(there, key=lambda row: -row[2])[:2]
        assert [seen[place] for place in sorted(seen)] == first


def test_a_column_says_how_many_rows_are_kept_and_null_says_none(bench: Bench) -> None:
    node = replace(top_two(AppendFastStrategy(), False), partition=PartitionSpec((2,)), rank_range=VariableRankRange(2))
    ranked = build(node, (bench.source("in", SCORES),), bench.context)
    bench.put(
        "in", ("r", "Ada", 1), ("r", "Bob", None), ("r", "Cy", 2), ("s", "Di", 2), ("s", "Eve", 1), ("s", "Flo", 2)
    )
    assert sorted(bench.step(ranked)) == [("+I", "r", "Ada", 1), ("+I", "r", "Cy", 2), ("+I", "s", "Di", 2)]


def test_a_journal_gets_the_change_of_every_row(bench: Bench) -> None:
    bench.keep_journal()
    ranked = build(top_two(AppendFastStrategy(), True), (bench.source("in", SCORES),), bench.context)
    bench.put("in", ("r", "Ada", 5), ("r", "Bob", 7), ("r", "Cy", 5))
    assert bench.step(ranked) == [
        ("+I", "r", "Ada", 5, 1),
        ("-U", "r", "Ada", 5, 1),
        ("+U", "r", "Bob", 7, 1),
        ("+I", "r", "Ada", 5, 2),
    ]


def test_top_n_without_its_number_promotes_the_next_when_a_row_is_taken_back(bench: Bench) -> None:
    source = bench.source("in", SCORES, changelog=True)
    ranked = build(top_two(RetractStrategy(), False), (source,), bench.context)
    bench.put("in", ("+I", "r", "Ada", 5), ("+I", "r", "Bob", 7), ("+I", "r", "Cy", None))
    assert sorted(bench.step(ranked)) == [("+I", "r", "Ada", 5), ("+I", "r", "Bob", 7)]
    bench.put("in", ("-D", "r", "Bob", 7))
    assert bench.step(ranked) == [("-D", "r", "Bob", 7), ("+I", "r", "Cy", None)]


def test_each_of_equal_rows_has_the_place_at_which_it_came(bench: Bench) -> None:
    source = bench.source("in", SCORES, changelog=True)
    ranked = build(top_two(RetractStrategy(), True), (source,), bench.context)
    bench.put("in", ("+I", "r", "Ada", 5), ("+I", "r", "Bob", 5), ("+I", "r", "Ada", 5))
    assert bench.step(ranked) == [("+I", "r", "Ada", 5, 1), ("+I", "r", "Bob", 5, 2)]
    bench.put("in", ("-D", "r", "Ada", 5))
    assert bench.step(ranked) == [
        ("-U", "r", "Ada", 5, 1),
        ("-U", "r", "Bob", 5, 2),
        ("+U", "r", "Bob", 5, 1),
        ("+U", "r", "Ada", 5, 2),
    ]


def test_limit_passes_the_first_rows_of_an_insert_only_stream(bench: Bench) -> None:
    node = Limit(
        id=1,
        version=1,
        rank_range=ConstantRankRange(2, 3),
        rank_strategy=AppendFastStrategy(),
        generate_update_before=False,
        output_type=SCORES,
    )
    limited = build(node, (bench.source("in", SCORES),), bench.context)
    assert not limited.changelog
    bench.put("in", ("r", "Ada", 5), ("r", "Bob", 7))
    assert bench.step(limited) == [("+I", "r", "Bob", 7)]
    bench.put("in", ("r", "Cy", 9), ("r", "Di", 6))
    assert bench.step(limited) == [("+I", "r", "Cy", 9)]


EVENTS = row([("k", STRING), ("v", INT), ("ts", timestamp(3, kind=TimeKind.ROWTIME))])
EARLY, NOON, LATE = ("2024-01-01T06:00:00Z", "2024-01-01T12:00:00Z", "2024-01-01T18:00:00Z")


@pytest.mark.parametrize(
    ("is_rowtime", "keep_last", "emitted", "in_the_end"),
    [
        (False, False, [("+I", 1)], 1),
        (False, True, [("+I", 1), ("-U", 1), ("+U", 2), ("-U", 2), ("+U", 3)], 3),
        (True, True, [("+I", 1), ("-U", 1), ("+U", 3)], 3),
        (True, False, [("+I", 1), ("-U", 1), ("+U", 2)], 2),
    ],
)
@pytest.mark.parametrize("journal", [True, False])
def test_deduplication(
    is_rowtime: bool, keep_last: bool, emitted: list[Any], in_the_end: int, journal: bool, bench: Bench
) -> None:
    if journal:
        bench.keep_journal()
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
    kept = build(node, (bench.source("in", EVENTS),), bench.context)
    bench.put("in", ("a", 1, NOON), ("a", 2, EARLY), ("a", 3, LATE))
    assert [(kind, v) for kind, _, v, _ in bench.step(kept)] == (emitted if journal else [("+I", in_the_end)])
    bench.put("in", ("a", 4, LATE))
    replaced = [("-U", in_the_end), ("+U", 4)] if keep_last else []
    assert [(kind, v) for kind, _, v, _ in bench.step(kept)] == replaced

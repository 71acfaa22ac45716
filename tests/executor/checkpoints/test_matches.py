"""Matches that Flink has begun, as steps."""

from __future__ import annotations

import pytest

from flinkplan.executor.checkpoints.from_flink.patterns import Edge, Event, Node, saved_matches
from flinkplan.state.form import StateError

FIRST, SECOND, THIRD = (0, 10), (1, 10), (0, 20)
NUMBERS: dict[Event, int] = {FIRST: 0, SECOND: 1, THIRD: 2}
EDGES: dict[Node, list[Edge]] = {
    (FIRST, "A"): [(None, [1])],
    (SECOND, "A"): [((FIRST, "A"), [1, 0]), (None, [2])],
    (THIRD, "B:0"): [((SECOND, "A"), [1, 0, 0]), ((SECOND, "A"), [2, 0])],
}
PLACES = {"$endState$": 0, "B": 1, "B:0": 2, "A": 3}


def test_versions_tell_which_rows_stand_before() -> None:
    matches = [("A", None, [3]), ("B", (THIRD, "B:0"), [1, 0, 0, 0]), ("B", (THIRD, "B:0"), [2, 0, 1])]
    steps, saved = saved_matches(matches, EDGES, NUMBERS, ["A", "B"], PLACES)
    assert steps == [(0, 0, -1), (0, 1, 0), (1, 2, 1), (0, 1, -1), (1, 2, 3)]
    assert saved == [(3, -1), (1, 2), (1, 4)]


def test_matches_share_the_steps_that_they_have_in_common() -> None:
    matches = [("A", (SECOND, "A"), [1, 0, 0]), ("B", (THIRD, "B:0"), [1, 0, 0, 0])]
    steps, saved = saved_matches(matches, EDGES, NUMBERS, ["A", "B"], PLACES)
    assert steps == [(0, 0, -1), (0, 1, 0), (1, 2, 1)]
    assert saved == [(3, 1), (1, 2)]


def test_a_row_that_is_missing_is_refused() -> None:
    with pytest.raises(StateError, match="lacks a row"):
        saved_matches([("B", (THIRD, "B:0"), [4])], EDGES, NUMBERS, ["A", "B"], PLACES)

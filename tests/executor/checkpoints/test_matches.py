"""Matches that Flink has begun as steps, and steps as Flink's matches."""

from __future__ import annotations

import pytest

from flinkplan.executor.checkpoints.from_flink.patterns import Edge, Event, Node, Step, saved_matches
from flinkplan.executor.checkpoints.to_flink.patterns import Buffer
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


STEPS: list[Step] = [(0, 0, -1), (0, 1, 0), (1, 2, 1), (0, 1, -1), (1, 2, 3), (1, 2, 1)]
"""Two matches that begin with other rows meet in the same rows, and one branches."""
MATCHES = [(3, -1), (1, 2), (2, 2), (1, 4), (0, 5)]
TIMES = {0: 10, 1: 10, 2: 20}


def test_steps_become_matches_that_lead_back_to_the_same_steps() -> None:
    buffer = Buffer(STEPS, TIMES, ["A", "B"])
    names = list(PLACES)
    given = [buffer.match(names[place], last) for place, last in MATCHES]
    edges = {node: [edge for _, edge in own] for node, (_, own) in buffer.nodes.items()}
    numbers = {event: number for number, event, _ in buffer.events}
    assert numbers == NUMBERS
    steps, saved = saved_matches([match[:3] for match in given], edges, numbers, ["A", "B"], PLACES)

    def path(steps: list[Step], last: int) -> list[tuple[int, int]]:
        return [] if last < 0 else [*path(steps, steps[last][2]), steps[last][:2]]

    assert [(place, path(steps, last)) for place, last in saved] == [
        (place, path(STEPS, last)) for place, last in MATCHES
    ]


def test_matches_have_the_times_of_their_rows() -> None:
    buffer = Buffer(STEPS, TIMES, ["A", "B"])
    assert buffer.match("B", 4)[3:] == (10, 20, SECOND)
    assert buffer.match("A", -1)[3:] == (-1, -1, None)


def test_nodes_and_their_edges_count_what_refers_to_them() -> None:
    buffer = Buffer(STEPS, TIMES, ["A", "B"])
    for place, last in MATCHES:
        buffer.match(list(PLACES)[place], last)
    counts = {node: (count, [own for own, _ in edges]) for node, (count, edges) in buffer.nodes.items()}
    assert counts == {(FIRST, "A"): (1, [1]), (SECOND, "A"): (3, [2, 1]), (THIRD, "B"): (4, [2, 1, 1])}
    assert {number: count for number, _, count in buffer.events} == {0: 1, 1: 1, 2: 1}

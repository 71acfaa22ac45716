from __future__ import annotations

import difflib

import pytest

from flinkplan.plan.document import loads
from flinkplan.plan.durations import DurationError
from flinkplan.plan.errors import PlanError
from flinkplan.plan.ttl import parse_edit, set_ttls, states
from tests.parity.corpus import HERE

CASCADE = (HERE / "cases/ttl-hint-many-units-in-cascaded-joins/plan.json").read_text("utf-8")
PIPELINE = (HERE / "cases/ttl-one-hour-join-aggregate-dedup-topn-pipeline/plan.json").read_text("utf-8")


def ttls(text: str) -> dict[str, object]:
    return {state.address: state.ttl for state in states(loads(text))}


def changed_lines(before: str, after: str) -> list[str]:
    diff = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in list(diff)[2:] if line.startswith("+")]


def test_lists_every_state() -> None:
    assert ttls(PIPELINE) == {
        "deduplicate.deduplicateState": "1 h",
        "join.leftState": "1 h",
        "join.rightState": "1 h",
        "group-aggregate.groupAggregateState": "1 h",
        "rank.rankState": "1 h",
    }


def test_names_of_several_operators_of_a_kind_count_from_the_sources() -> None:
    assert [state.node_name for state in states(loads(CASCADE))][::2] == ["join#1", "join#2", "join#3"]


@pytest.mark.parametrize(
    ("edit", "changed"),
    [
        ("join.leftState=3s", {"join.leftState": "3 s"}),
        ("9.leftState = 3000 ms", {"join.leftState": "3 s"}),
        ("stream-exec-join_1.right*=90 min", {"join.rightState": "90 min"}),
        ("Join(*).*=P1D", {"join.leftState": "1 d", "join.rightState": "1 d"}),
        ("rank*=0", {"rank.rankState": "0 ms"}),
    ],
)
def test_sets_what_is_addressed_and_touches_nothing_else(edit: str, changed: dict[str, str]) -> None:
    edited, changes = set_ttls(PIPELINE, [parse_edit(edit)])
    assert {change.state.address: change.ttl for change in changes} == changed
    assert ttls(edited) == ttls(PIPELINE) | changed
    assert changed_lines(PIPELINE, edited) == [f'+      "ttl" : "{ttl}",' for ttl in changed.values()]


def test_a_name_addresses_all_operators_of_the_kind_and_a_number_one() -> None:
    everywhere, _ = set_ttls(CASCADE, [parse_edit("join.leftState=5 d")])
    second, _ = set_ttls(CASCADE, [parse_edit("join#2.leftState=5 d")])
    assert {ttl for address, ttl in ttls(everywhere).items() if address.endswith("leftState")} == {"5 d"}
    assert ttls(second) == ttls(CASCADE) | {"join#2.leftState": "5 d"}


def test_later_edits_win() -> None:
    edited, _ = set_ttls(PIPELINE, [parse_edit("*=7 d"), parse_edit("join.leftState=3 s")])
    assert set(ttls(edited).values()) == {"7 d", "3 s"}
    assert ttls(edited)["join.leftState"] == "3 s"


def without_join_states(replacement: str) -> str:
    """The plan with another text in place of the join's state array."""
    start = PIPELINE.index('    "state" : [ {', PIPELINE.index("stream-exec-join_1"))
    end = PIPELINE.index("} ],\n", start) + len("} ],\n")
    return PIPELINE[:start] + replacement + PIPELINE[end:]


@pytest.mark.parametrize("replacement", ["", '    "state" : [ ],\n'])
def test_writes_a_state_array_where_there_is_none(replacement: str) -> None:
    bare = without_join_states(replacement)
    assert ttls(bare)["join.leftState"] is None
    edited, _ = set_ttls(bare, [parse_edit("join.leftState=3 s")])
    assert ttls(edited) == ttls(PIPELINE) | {"join.leftState": "3 s", "join.rightState": "0 ms"}


@pytest.mark.parametrize(
    ("edit", "error", "words"),
    [
        ("join.leftState", PlanError, "NODE.STATE=TTL"),
        ("=3 s", PlanError, "NODE.STATE=TTL"),
        ("join.leftState=1.5 h", DurationError, "90 min"),
        ("join.leftState=", DurationError, "0 ms"),
    ],
)
def test_refuses_a_bad_edit(edit: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as caught:
        parse_edit(edit)
    assert words in str(caught.value)


def test_names_the_nearest_state() -> None:
    with pytest.raises(PlanError) as caught:
        set_ttls(PIPELINE, [parse_edit("join.lefState=3 s")])
    assert caught.value.hint == "did you mean 'join.leftState'?"

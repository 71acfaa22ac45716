"""Plans that are broken, by hand and by chance: one clear message each, never a traceback."""

from __future__ import annotations

import copy
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flinkplan.compat.diff import Exceptions, Platforms, Side, Source, diff_plans, diff_texts
from flinkplan.plan.document import dumps
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import Rank
from flinkplan.plan.record import replace
from flinkplan.plan.specs import PartitionSpec
from flinkplan.planner import compile_script
from tests.cli.support import flinkplan
from tests.compat.pipelines import PAIRS, TOP, TOP_COLUMNS, script

SOME = PAIRS[::7]


@cache
def text_of(number: int) -> str:
    """The plan of one of the pipelines."""
    return json.dumps(json.loads(dumps(compile_script(SOME[number].scripts()[0]))))


@cache
def side_of(number: int) -> Side:
    return Side.read(Source("old", text_of(number)), locate=True)


GOOD = text_of(0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD[:200], "not valid JSON: it ends too early"),
        (GOOD[:200] + "]", "not valid JSON"),
        ("", "the file is empty"),
        ("\ufeff" + GOOD, "the file begins with a byte order mark"),
        (GOOD.replace('"0 ms"', "1" * 5000), "a number with thousands of digits"),
        ("[]", "a compiled plan is a JSON object, not a list"),
        ('{"nodes": 1,\n "nodes": 2}', "the key 'nodes' stands twice in one object\n --> bad.json:2:2\n"),
        ("[" * 100_000, "nested too deeply"),
        (GOOD.replace('"0 ms"', '"1000000 weeks"'), "unknown time unit 'weeks'"),
        (GOOD.replace('"nodes"', '"nods"'), "the plan has no 'nodes'"),
        (GOOD.replace("group-aggregate_1", "group-agregate_1"), "there is no exec node"),
        (GOOD.replace('"source": 1,', '"source": 77,'), "node 77, which does not exist\n --> bad.json:1:"),
        (
            GOOD.replace('"0 ms"', "null"),
            "node 5: the TTL of 'groupAggregateState': a duration is a text such as '1 h'",
        ),
        (GOOD.replace('"0 ms"', '"-1 s"'), "a duration cannot be negative"),
        (GOOD.replace('"index": 0, "ttl"', '"index": 1, "ttl"'), "node 5: there is no state 1"),
        (b"\xff\xfe{", "not UTF-8 text (byte 0)"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "bytes",
)
def test_a_malformed_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | bytes, words: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.json").write_text(GOOD)
    Path("bad.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    outcome = flinkplan("diff", "good.json", "bad.json")
    assert outcome.code == 2
    assert words in outcome.err
    assert len(outcome.err) < 1000


def test_a_ttl_of_a_million_days_is_one() -> None:
    diff = diff_texts(Source("old", GOOD), Source("new", GOOD.replace('"0 ms"', '"1000000 d"')))
    assert [f.message for f in diff.findings] == ["groupAggregateState 0 ms → 1000000 d"]


def test_a_key_that_is_no_column() -> None:
    plan = compile_script(script(TOP, TOP_COLUMNS))
    rank = next(node for node in plan.nodes if isinstance(node, Rank))
    broken = replace(rank, partition=PartitionSpec((rank.partition.fields[0], -1)))
    new = replace(plan, nodes=tuple(broken if node is rank else node for node in plan.nodes))
    diff = diff_texts(Source("old", dumps(plan)), Source("new", dumps(new)))
    assert "keys-changed" in {f.rule for f in diff.findings}


def test_fifty_megabytes(tmp_path: Path) -> None:
    document = json.loads(GOOD)
    document["nodes"][0]["description"] = "x" * 50_000_000
    path = tmp_path / "big.json"
    path.write_text(json.dumps(document))
    assert flinkplan("diff", str(path), str(path)).code == 0


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 9),
    st.sampled_from(["", "1 h", "INT", "BIGINT NOT NULL", "INNER", "UNKNOWN", "9" * 30, "\u0000", "`"]),
    st.just([]),
    st.just({}),
    st.just([[0]]),
)


@st.composite
def mutated(draw: st.DrawFn) -> tuple[int, str]:
    """Which of the plans, and its text with a few values changed, dropped, doubled or moved somewhere in it."""
    number = draw(st.integers(0, len(SOME) - 1))
    document = json.loads(text_of(number))
    for _ in range(draw(st.integers(1, 4))):
        places = _places(document)
        if not places:
            break
        holder, key = places[draw(st.integers(0, len(places) - 1))]
        how = draw(st.sampled_from(("value", "value", "drop", "double", "swap")))
        if how == "value":
            holder[key] = copy.deepcopy(draw(VALUES))
        elif how == "drop":
            del holder[key]
        elif how == "double" and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        else:
            other, at = places[draw(st.integers(0, len(places) - 1))]
            holder[key] = copy.deepcopy(other[at])
    return number, json.dumps(document)


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Every value of a document, as what holds it and its key there, in the order of the text."""
    places: list[tuple[Any, Any]] = []
    pending = [iter(_items(document))]
    while pending:
        for holder, key, value in pending[-1]:
            places.append((holder, key))
            if isinstance(value, list | dict):
                pending.append(iter(_items(value)))
                break
        else:
            pending.pop()
    return places


def _items(holder: Any) -> list[tuple[Any, Any, Any]]:
    items = enumerate(holder) if isinstance(holder, list) else holder.items()
    return [(holder, key, value) for key, value in items]


EXAMPLES = int(os.environ.get("FLINKPLAN_EXAMPLES", "300"))


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(mutated())
def test_changed_by_chance(plan: tuple[int, str]) -> None:
    number, text = plan
    try:
        diff = diff_plans(side_of(number), Side.read(Source("new", text), locate=True), Exceptions(), Platforms())
    except FlinkplanError as e:
        assert e.message
    else:
        assert diff.summary

"""Windows of the DataStream API: what it means that one of their states expires."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from random import Random
from typing import Any

import pytest

from flinkplan.executor.build.stream import Stream
from flinkplan.plan.nodes import WindowOperator
from flinkplan.plan.record import replace
from flinkplan.plan.types import INT, STRING, row
from flinkplan.planner import compile_script

from ..building import build
from ..conftest import Bench
from ..jobs import Place

pytestmark = pytest.mark.spark

CLICKS = row([("person", STRING), ("amount", INT)])
CONTENTS, MERGING, TRIGGER, GLOBAL = 0, 1, 2, 4
SECOND = 1_000


def operator(state: int | None = None, **window: Any) -> WindowOperator:
    """A window of clicks by person, of which one state is kept for ten seconds."""
    spec = {
        "version": 1,
        "tables": {
            "clicks": {"columns": {"person": "STRING", "amount": "INT"}, "with": {"connector": "datagen"}},
            "report": {"columns": {"n": "BIGINT"}, "with": {"connector": "blackhole"}},
        },
        "windows": {"w": {"from": "clicks", "key-by": "person", "assign": "global", **window}},
        "inserts": [{"into": "report", "query": "SELECT COUNT(*) FROM w"}],
    }
    plan = compile_script(json.dumps(spec), file="pipeline.yaml")
    (node,) = (n for n in plan.nodes if isinstance(n, WindowOperator))
    states = tuple(replace(s, ttl="10 s") if s.index == state else s for s in node.states)
    return replace(node, state=states)


def _running(bench: Bench, node: WindowOperator) -> Stream:
    return build(node, (bench.source("clicks", CLICKS),), bench.context)


def emitted(bench: Bench, node: WindowOperator, *arrivals: tuple[int, int]) -> list[tuple[Any, ...]]:
    """What comes out for clicks of one person: seconds of the clock, and amounts."""
    bench.context.spark.conf.set("spark.sql.streaming.stateStore.encodingFormat", "avro")
    stream = _running(bench, node)
    shown = [i for i, f in enumerate(node.fields) if not f.name.startswith("window_")]
    found = []
    for second, amount in arrivals:
        bench.put("clicks", ("ann", amount))
        rows = [values for _, *values in bench.step(stream, second * SECOND)]
        found += [tuple(values[i] for i in shown) for values in rows]
    return found


SUMS: dict[str, Any] = {"trigger": {"count": 2}, "aggregate": {"person": "person", "total": "SUM(amount)"}}
ARRIVALS = ((0, 1), (11, 20), (12, 300))


def test_a_window_goes_on_over_restarts(bench: Bench) -> None:
    assert emitted(bench, operator(**SUMS), *ARRIVALS, (13, 4000)) == [("ann", 21), ("ann", 4321)]


def test_an_accumulator_that_expires_is_gone(bench: Bench) -> None:
    assert emitted(bench, operator(CONTENTS, **SUMS), *ARRIVALS) == [("ann", 20)]


def test_a_trigger_whose_state_expires_counts_anew(bench: Bench) -> None:
    assert emitted(bench, operator(TRIGGER, **SUMS), *ARRIVALS) == [("ann", 321)]


def test_a_write_keeps_an_accumulator(bench: Bench) -> None:
    arrivals = ((0, 1), (9, 20), (18, 300), (27, 4000))
    assert emitted(bench, operator(CONTENTS, **SUMS), *arrivals) == [("ann", 21), ("ann", 4321)]


def test_each_row_that_is_kept_expires_by_itself(bench: Bench) -> None:
    kept = operator(CONTENTS, trigger={"count": 3}, elements="all")
    assert emitted(bench, kept, (0, 1), (6, 20), (11, 300)) == [("ann", 20), ("ann", 300)]


@pytest.mark.parametrize(("state", "numbers"), [(None, [1, 2, 3]), (GLOBAL, [1, 1, 2])])
def test_firings_of_a_key_are_counted_as_long_as_they_are_kept(
    bench: Bench, state: int | None, numbers: list[int]
) -> None:
    counted = operator(state, trigger={"count": 1}, aggregate={"firing": "key_firing"})
    assert [n for _, n in emitted(bench, counted, *ARRIVALS)] == numbers


@pytest.mark.parametrize(("state", "totals"), [(None, [("ann", 21)]), (MERGING, [("ann", 320)])])
def test_sessions_are_joined_as_long_as_they_are_known(
    bench: Bench, state: int | None, totals: list[tuple[str, int]]
) -> None:
    session = operator(state, **SUMS, assign={"session": "1 h", "time": "processing"})
    assert emitted(bench, session, *ARRIVALS) == totals


def test_state_of_global_windows_is_cleaned_up(bench: Bench) -> None:
    node = operator(CONTENTS, trigger={"purging": {"count": 2}}, aggregate={"n": "COUNT(*)"})
    node = replace(node, state=tuple(replace(s, ttl="10 s") for s in node.states))
    bench.context.spark.conf.set("spark.sql.streaming.stateStore.encodingFormat", "avro")
    stream = _running(bench, node)
    for batch in range(4):
        bench.put("clicks", *((f"{batch}-{i}", 1) for i in range(50)))
        bench.step(stream, batch * 20 * SECOND)
    reader = bench.context.spark.read.format("statestore").option("stateVarName", "windows")
    kept = reader.load(str(bench._folder / "checkpoint"))
    assert {r["key"][0][0] for r in kept.collect()} == {"3"}


def sessions(rows: list[tuple[int, str, int]]) -> Counter[tuple[str, int, int, int]]:
    """The sessions of rows of a second, a person and a gap in seconds: person, rows, start and end."""
    found: Counter[tuple[str, int, int, int]] = Counter()
    open_: dict[str, tuple[str, int, int, int]] = {}
    for second, person, gap in sorted(rows):
        _, count, start, end = open_.get(person, (person, 0, second, second))
        if second > end:
            found[open_.pop(person)] += 1
            count, start, end = 0, second, second
        open_[person] = (person, count + 1, start, max(end, second + gap))
    found.update(open_.values())
    return found


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("assign", [{"session": "5 s"}, {"session-by": "gap * 1000"}])
def test_sessions_of_rows_from_several_tasks(place: Place, assign: dict[str, str], streams: bool) -> None:
    chance = Random(7)
    rows = [(chance.randrange(600), chance.choice("abc"), chance.randint(1, 9)) for _ in range(200)]
    stamps = [f"2024-01-01 00:{second // 60:02}:{second % 60:02}" for second, *_ in rows]
    for task in range(4):
        of = zip(stamps[task::4], rows[task::4], strict=True)
        place.put(str(task), *({"ts": ts, "person": person, "gap": gap} for ts, (_, person, gap) in of))
    spec = {
        "version": 1,
        "tables": {
            "clicks": {
                "columns": {"person": "STRING", "gap": "INT", "ts": "TIMESTAMP(3)"},
                "watermark": {"column": "ts", "as": "ts - INTERVAL '1' HOUR"},
                "with": place.files("in"),
            },
            "report": {
                "columns": {"person": "STRING", "n": "BIGINT", "since": "STRING", "until": "STRING"},
                "with": place.files("out"),
            },
        },
        "windows": {
            "w": {
                "from": "clicks",
                "key-by": "person",
                "assign": assign,
                "aggregate": {"person": "person", "n": "COUNT(*)"},
            }
        },
        "inserts": [
            {
                "into": "report",
                "query": "SELECT person, n, CAST(window_start AS STRING), CAST(window_end AS STRING) FROM w",
            }
        ],
    }
    place.spark.conf.set("spark.sql.files.minPartitionNum", "4")
    try:
        place.run(compile_script(json.dumps(spec), file="pipeline.yaml"), streams=streams)
    finally:
        place.spark.conf.unset("spark.sql.files.minPartitionNum")
    found = Counter((r["person"], r["n"], _second(r["since"]), _second(r["until"])) for r in place.rows())
    fixed = [(second, person, 5 if "session" in assign else own) for second, person, own in rows]
    assert found == sessions(fixed)
    assert len(found) > 20


def _second(stamp: str) -> int:
    return int(datetime.fromisoformat(f"{stamp}+00:00").timestamp()) % 86_400

"""Joins with the latest row of a key, as of processing time; each step goes on from restored state."""

from __future__ import annotations

import pytest

from flinkplan.compat.diff import Source, diff_texts
from flinkplan.compat.verdicts import Verdict
from flinkplan.plan.document import Plan, dumps
from flinkplan.plan.nodes import TemporalJoin
from flinkplan.plan.nodes.base import OWN
from flinkplan.plan.nodes.joins import SNAPSHOT_TTL
from flinkplan.plan.record import Json
from flinkplan.plan.rex import Call, InputRef
from flinkplan.plan.specs import JoinSpec, JoinType
from flinkplan.plan.types import BOOLEAN, INT, STRING, TimeKind, row, timestamp_ltz
from flinkplan.planner import compile_script

from ..building import build
from ..conftest import Bench
from ..databases import Database
from ..plans import refusal

NOW = timestamp_ltz(3, kind=TimeKind.PROCTIME)
LEFT = row([("k", STRING), ("v", INT)])
RIGHT = row([("k", STRING), ("w", INT)])
V_LESS_THAN_W = Call("$<$1", (InputRef(1, INT), InputRef(3, INT)), BOOLEAN, "BINARY")


def join(kind: JoinType, ttl: str | None, *, conditional: bool = False) -> TemporalJoin:
    """The join on k, with a TTL where it waits for the snapshot."""
    return TemporalJoin(
        id=1,
        version=1,
        output_type=row([*((f.name, f.type) for f in LEFT.fields), ("k0", STRING), ("w", INT)]),
        join_spec=JoinSpec(kind, (0,), (0,), (True,), V_LESS_THAN_W if conditional else None),
        is_temporal_function_join=False,
        left_time_attribute_index=1,
        right_time_attribute_index=-1,
        unknown=Json({OWN: {SNAPSHOT_TTL: ttl}} if ttl else {}),
    )


@pytest.mark.spark
def test_rows_find_the_latest_of_their_batch_and_of_those_before(bench: Bench) -> None:
    left, right = bench.source("left", LEFT), bench.source("right", RIGHT, changelog=True)
    joined = build(join(JoinType.LEFT, "1 h"), (left, right), bench.context)
    bench.put("left", ("a", 1), (None, 2))
    bench.put("right", ("+I", "a", 10), ("+U", "a", 11), ("+I", "b", 20))
    assert bench.step(joined) == [("+I", "a", 1, "a", 11), ("+I", None, 2, None, None)]
    bench.put("left", ("a", 3), ("b", 4), ("c", 5))
    assert [row[-1] for row in bench.step(joined)] == [11, 20, None]
    bench.put("left", ("a", 6), ("b", 7))
    bench.put("right", ("-D", "b", 20))
    assert [row[-1] for row in bench.step(joined, at=1_000)] == [11, None]
    bench.put("left", ("a", 8))
    assert [row[-1] for row in bench.step(joined, at=3_600_000)] == [None]


@pytest.mark.spark
def test_conditions_and_kinds_are_the_left_side_s(bench: Bench) -> None:
    left, right = bench.source("left", LEFT, changelog=True), bench.source("right", RIGHT)
    joined = build(join(JoinType.INNER, "0 s", conditional=True), (left, right), bench.context)
    bench.put("right", ("a", 5))
    bench.put("left", ("+I", "a", 1), ("-U", "a", 1), ("+U", "a", 7), ("+I", "b", 1))
    assert bench.step(joined) == [("+I", "a", 1, "a", 5), ("-U", "a", 1, "a", 5)]


def test_it_has_to_be_asked_for() -> None:
    assert "compile with table.exec.temporal-join.processing-time = wait-for-snapshot" in refusal(
        join(JoinType.INNER, None)
    )


ORDERS, RATES = "cur STRING, v INT, p AS PROCTIME()", "cur STRING PRIMARY KEY NOT ENFORCED, rate INT"
WAITS = "SET 'table.exec.temporal-join.processing-time' = 'wait-for-snapshot';"
QUERY = "INSERT INTO got SELECT o.cur, o.v, r.rate FROM o LEFT JOIN r FOR SYSTEM_TIME AS OF o.p ON o.cur = r.cur;"


@pytest.mark.spark
@pytest.mark.parametrize("streams", [False, True])
def test_a_job_waits_for_the_snapshot(database: Database, streams: bool) -> None:
    none = {"before": None, "after": None}
    changes = (
        none | {"op": "c", "after": {"cur": "EUR", "rate": 114}},
        none | {"op": "c", "after": {"cur": "USD", "rate": 100}},
        none | {"op": "u", "before": {"cur": "EUR", "rate": 114}, "after": {"cur": "EUR", "rate": 116}},
    )
    database.execute("CREATE TABLE got (cur VARCHAR(3), v INT, rate INT)")
    database.run(
        WAITS,
        database.files("o", ORDERS, "json", {"cur": "EUR", "v": 1}, {"cur": "USD", "v": 2}, {"cur": "XXX", "v": 3}),
        database.files("r", RATES, "debezium-json", *changes),
        database.table("got", "cur STRING, v INT, rate INT"),
        QUERY,
        streams=streams,
    )
    assert database.rows("SELECT * FROM got ORDER BY v") == [
        ["EUR", "1", "116"],
        ["USD", "2", "100"],
        ["XXX", "3", None],
    ]


def compiled(settings: str) -> Plan:
    return compile_script(
        f"{settings} CREATE TABLE o ({ORDERS}) WITH ('connector' = 'datagen');"
        f"CREATE TABLE r ({RATES}) WITH ('connector' = 'filesystem', 'path' = '/r', 'format' = 'debezium-json');"
        f"CREATE TABLE got (cur STRING, v INT, rate INT) WITH ('connector' = 'blackhole'); {QUERY}"
    )


TWO_HOURS = "SET 'table.exec.state.ttl' = '2 h';"


def test_the_plan_keeps_the_ttl_beside_what_is_flinks() -> None:
    (plain,), (waits,) = (
        [node for node in compiled(settings).nodes if isinstance(node, TemporalJoin)]
        for settings in (TWO_HOURS, WAITS + TWO_HOURS)
    )
    assert plain.snapshot_ttl_ms is None
    assert waits.snapshot_ttl_ms == 7_200_000
    assert waits.description == plain.description


def test_another_ttl_is_told() -> None:
    old, new = (Source(name, dumps(compiled(WAITS + ttl))) for name, ttl in (("old", ""), ("new", TWO_HOURS)))
    found = diff_texts(old, new, locate=False)
    assert "ttl-enabled" in {judged.rule for judged in found.judged}
    assert found.spark is Verdict.COMPATIBLE

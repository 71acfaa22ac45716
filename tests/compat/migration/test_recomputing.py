"""Aggregations that are computed from rows which an operator below them keeps."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from flinkplan.compat.migration.migrated import MigratedState
from flinkplan.compat.migration.planning import plan_migration
from flinkplan.compat.migration.recipe import Allowed
from flinkplan.plan.document import Plan
from flinkplan.plan.nodes import Deduplicate, ExecNode, GroupAggregate, Join
from flinkplan.plan.uids import Uids
from flinkplan.planner import compile_script
from flinkplan.state.operators import operators_of

from .states import Entries, Given, Job, entries_of, key, made, row
from .test_steps import plan

_JOIN = "FROM a JOIN b ON a.k = b.k"
_LAST = "(SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS r FROM a) WHERE r = 1)"


def accumulators(
    old: str, new: str, columns: tuple[str, str], rows: Any, keeper: type[ExecNode] = Join
) -> list[tuple[Any, ...]]:
    """The accumulators of the new query, by key, made from rows that an operator of the old one keeps."""
    before, after = plan(old, columns[0]), plan(new, columns[1])
    assert not list(plan_migration(before, after).refusals(Allowed()))
    (source,) = (node for node in before.nodes if isinstance(node, keeper))
    (target,) = (node for node in after.nodes if isinstance(node, GroupAggregate))
    return sorted(made(before, after, (source, target), rows)["accState"], key=str)


def joined(rows: list[tuple[int | None, tuple[Any, ...], int]], *, met: bool = False) -> list[dict[str, Any]]:
    """Rows of one side of a join: the key, the row and its number."""
    return [
        {"key": key(k), "map_key": row(*values), "value": {"f0": n, "f1": 0} if met else {"value": n}}
        for k, values, n in rows
    ]


LEFT = [(1, (1, 7), 1), (1, (1, 8), 2), (2, (2, 7), 1), (None, (None, 7), 1)]
RIGHT = [(1, (1, 5), 1), (1, (1, None), 1), (3, (3, 9), 1), (None, (None, 4), 1)]


def test_an_aggregate_is_added_to_one_over_a_join() -> None:
    found = accumulators(
        f"SELECT g, SUM(x) {_JOIN} GROUP BY g",
        f"SELECT g, SUM(x), COUNT(*), COUNT(x), MAX(x), AVG(x) {_JOIN} GROUP BY g",
        ("g INT, s INT", "g INT, s INT, n BIGINT, m BIGINT, h INT, a INT"),
        {"left-records": joined(LEFT), "right-records": joined(RIGHT)},
    )
    assert found == [((7,), (5, 1, 2, 5)), ((8,), (10, 2, 4, 5))]  # SUM(x) and COUNT(x) make AVG(x)


def test_an_aggregation_is_new_above_a_join() -> None:
    found = accumulators(
        f"SELECT g, x {_JOIN}",
        f"SELECT x, COUNT(*), MIN(g) {_JOIN} GROUP BY x",
        ("g INT, x INT", "x INT, n BIGINT, g INT"),
        {"left-records": joined(LEFT), "right-records": joined(RIGHT)},
    )
    assert found == [((5,), (3, 7)), ((None,), (3, 7))]


def test_rows_without_a_match_are_aggregated_as_well() -> None:
    outer = _JOIN.replace("JOIN", "LEFT JOIN")
    found = accumulators(
        f"SELECT g, x {outer}",
        f"SELECT g, COUNT(*), SUM(x) {outer} GROUP BY g",
        ("g INT, x INT", "g INT, n BIGINT, x INT"),
        {"left-records": joined(LEFT, met=True), "right-records": joined(RIGHT)},
    )
    assert found == [((7,), (4, 5, 1)), ((8,), (4, 10, 2))]


def test_a_filter_of_an_aggregate_and_the_condition_of_a_join_are_heeded() -> None:
    join = f"{_JOIN} AND x > v"
    found = accumulators(
        f"SELECT g, x {join}",
        f"SELECT g, COUNT(*) FILTER (WHERE x > 5) {join} GROUP BY g",
        ("g INT, x INT", "g INT, n BIGINT"),
        {
            "left-records": joined([(1, (1, 7, 3), 1), (1, (1, 7, 9), 1)]),
            "right-records": joined([(1, (1, 5), 1), (1, (1, 6), 1), (1, (1, 2), 1)]),
        },
    )
    assert found == [((7,), (1,))]


def test_an_aggregation_over_a_join_follows_a_change_of_the_join() -> None:
    found = accumulators(
        f"SELECT g, SUM(x), COUNT(*) {_JOIN} GROUP BY g",
        f"SELECT g, SUM(x), COUNT(*) {_JOIN.replace('JOIN', 'LEFT JOIN')} AND x + g > 11 GROUP BY g",
        ("g INT, s INT, n BIGINT", "g INT, s INT, n BIGINT"),
        {"left-records": joined(LEFT), "right-records": joined(RIGHT)},
    )
    assert found == [((7,), (5, 1, 3)), ((8,), (10, 2, 2))]


def test_the_last_rows_of_keys_are_aggregated() -> None:
    found = accumulators(
        f"SELECT k, g, v FROM {_LAST}",
        f"SELECT g, COUNT(*), SUM(v) FROM {_LAST} GROUP BY g",
        ("k INT, g INT, v INT", "g INT, n BIGINT, s INT"),
        {
            "deduplicate-state": [
                {"key": key(k), "value": row(k, g, v, None)} for k, g, v in ((1, 7, 2), (2, 7, 3), (3, None, 4))
            ]
        },
        Deduplicate,
    )
    assert found == [((7,), (2, 5, 2)), ((None,), (1, 4, 1))]


def test_an_extreme_of_rows_that_may_be_taken_back_has_all_values() -> None:
    old = plan(f"SELECT k, g, v FROM {_LAST}", "k INT, g INT, v INT")
    query = f"SELECT g, MAX(v), MIN(v) FILTER (WHERE k < 4) FROM {_LAST} GROUP BY g"
    new = plan(query, "g INT, m INT, n INT")
    (source,) = (node for node in old.nodes if isinstance(node, Deduplicate))
    (target,) = (node for node in new.nodes if isinstance(node, GroupAggregate))
    rows: Any = [((k,), (k, g, v, None)) for k, g, v in ((1, 7, 2), (2, 7, 3), (3, 7, 3), (4, 8, 4), (5, 7, None))]
    given = Job(old, {f"{source.id}_deduplicate": {"deduplicate-state": rows}})
    state = MigratedState(given, (old, new), plan_migration(old, new), operators_of(new, Uids()))
    found = {
        table.name: sorted(entries_of(state, table))
        for operator, table in state.manifest.tables()
        if operator.uid == f"{target.id}_group-aggregate" and not table.clock
    }
    assert found == {
        "accState": [((7,), ((3, 2, None), (2, 2, None), 4)), ((8,), ((4, 1, None), (None, 0, None), 1))],
        "agg0$map": [((7,), (2,), (1,)), ((7,), (3,), (2,)), ((8,), (4,), (1,))],
        "agg1$map": [((7,), (2,), (1,)), ((7,), (3,), (2,))],
    }


@pytest.mark.parametrize(
    ("old", "new", "columns", "why"),
    [
        (
            f"SELECT g, SUM(x) {_JOIN} GROUP BY g",
            f"SELECT g, SUM(x), MAX(y) {_JOIN} GROUP BY g",
            ("g INT, s INT", "g INT, s INT, m INT"),
            "right-records lacks the column y",
        ),
        (
            f"SELECT g, SUM(x) {_JOIN} GROUP BY g",
            f"SELECT g, SUM(x), COUNT(DISTINCT x) {_JOIN} GROUP BY g",
            ("g INT, s INT", "g INT, s INT, n BIGINT"),
            "kept nowhere",
        ),
    ],
    ids=["column not kept", "distinct"],
)
def test_what_does_not_follow_from_the_rows_is_refused(old: str, new: str, columns: tuple[str, str], why: str) -> None:
    refusals = list(plan_migration(plan(old, columns[0]), plan(new, columns[1])).refusals(Allowed()))
    assert any(why in reason for _, reason, _ in refusals)


def test_the_results_of_an_aggregation_are_aggregated() -> None:
    below = "(SELECT k, SUM(v) AS s, COUNT(*) AS n, MAX(g) AS g FROM a GROUP BY k)"
    before = plan(f"SELECT k, s, g FROM {below}", "k INT, s INT, g INT")
    after = plan(f"SELECT g, COUNT(*), SUM(s) FROM {below} GROUP BY g", "g INT, n BIGINT, s INT")
    assert not list(plan_migration(before, after).refusals(Allowed()))
    (source,) = (node for node in before.nodes if isinstance(node, GroupAggregate))
    target = [node for node in after.nodes if isinstance(node, GroupAggregate)][-1]
    rows = [{"key": key(k), "value": row(s, g)} for k, s, g in ((1, 3, 7), (2, 4, 7), (3, None, 8))]
    found = made(before, after, (source, target), {"accState": rows})["accState"]
    assert sorted(found) == [((7,), (2, 7, 2)), ((8,), (1, None, 0))]


def of_values(old: str, new: str, columns: tuple[str, str], rows: Any) -> list[dict[str, Any]]:
    """The accumulators of the new query, from those and the views of the old one."""
    before, after = plan(old, columns[0]), plan(new, columns[1])
    (own,) = operators_of(before, Uids())
    state = MigratedState(Given(own, rows), (before, after), plan_migration(before, after), operators_of(after, Uids()))
    (table,) = (table for _, table in state.manifest.tables() if table.name == "accState")
    return [entry["value"] for batch in state.batches(table) for entry in batch.to_pylist()]


def test_an_extreme_is_computed_from_distinct_values() -> None:
    seen = [{"key": key(k), "map_key": {"value": v}, "value": {"value": 1}} for k, v in ((1, 5), (1, 3), (2, 9))]
    kept = [{"key": key(k), "value": {**row(n), "f1": None}} for k, n in ((1, 2), (2, 1), (3, 0))]
    found = of_values(
        "SELECT k, COUNT(DISTINCT v) FROM a GROUP BY k",
        "SELECT k, COUNT(DISTINCT v), MIN(v) FROM a GROUP BY k",
        ("k INT, n BIGINT", "k INT, n BIGINT, m INT"),
        {"accState": kept, "distinctAcc_0": seen},
    )
    assert [(value["f0"], value["f1"]) for value in found] == [(2, 3), (1, 9), (0, None)]


def test_the_other_extreme_is_computed_from_values_that_may_be_taken_back() -> None:
    last = "(SELECT k, LAST_VALUE(v) AS v, MAX(g) AS g FROM a GROUP BY k)"
    extreme = "SELECT g, {}(v) FROM " + last + " GROUP BY g"
    before, after = (plan(extreme.format(name), "g INT, m INT") for name in ("MAX", "MIN"))
    node = [node for node in before.nodes if isinstance(node, GroupAggregate)][-1]
    uid = f"{node.id}_group-aggregate"
    (own,) = (each for each in operators_of(before, Uids()) if each.uid == uid)
    values = [{"key": key(1), "map_key": {"value": v}, "value": {"value": 1}} for v in (4, 7)]
    kept = [{"key": key(1), "value": row({"max": 7, "mapSize": 2, "map": b"x"}, 2)}]
    given = Given(own, {"accState": kept, "agg0$map": values})
    state = MigratedState(given, (before, after), plan_migration(before, after), operators_of(after, Uids()))
    found = {
        table.name: [entry["value"] for batch in state.batches(table) for entry in batch.to_pylist()]
        for owner, table in state.manifest.tables()
        if owner.uid == uid and not table.clock
    }
    assert found["accState"][0]["f0"] == {"min": 4, "mapSize": 2, "map": b"x"}
    assert len(found["agg0$map"]) == 2


def test_a_second_call_shares_distinct_values() -> None:
    before = plan("SELECT k, COUNT(DISTINCT v) FROM a GROUP BY k", "k INT, n BIGINT")
    after = plan("SELECT k, COUNT(DISTINCT v), SUM(DISTINCT v) FROM a GROUP BY k", "k INT, n BIGINT, s INT")
    (own,) = operators_of(before, Uids())
    seen = [{"key": key(1), "map_key": {"value": v}, "value": {"value": 1}} for v in (5, 3)]
    kept = [{"key": key(1), "value": {**row(2), "f1": None}}]
    null = [{"key": key(1), "value": {"value": 1}}]
    given = Given(own, {"accState": kept, "distinctAcc_0": seen, "distinctAcc_0_null_state": null})
    state = MigratedState(given, (before, after), plan_migration(before, after), operators_of(after, Uids()))
    found = {
        table.name: [entry["value"] for batch in state.batches(table) for entry in batch.to_pylist()]
        for _, table in state.manifest.tables()
        if not table.clock
    }
    assert [(value["f0"], value["f1"]) for value in found["accState"]] == [(2, 8)]
    assert [value["value"] for value in found["distinctAcc_0"]] == [3, 3]
    assert [value["value"] for value in found["distinctAcc_0_null_state"]] == [3]


_TIMED = """
CREATE TABLE l (k INT, v INT, ts TIMESTAMP(3){}) WITH ('connector' = 'filesystem', 'path' = '/in/l', 'format' = 'json');
CREATE TABLE r (k INT, x INT, ts TIMESTAMP(3){}) WITH ('connector' = 'filesystem', 'path' = '/in/r', 'format' = 'json');
CREATE TABLE o (k INT, v INT, x INT, ts TIMESTAMP(3)) WITH ('connector' = 'print');
INSERT INTO o SELECT l.k, v, x, CAST(l.ts AS TIMESTAMP(3)) FROM l {}JOIN r ON l.k = r.k AND {};
"""


def timed(bounds: str, watermark: str, kind: str = "") -> Plan:
    """The plan of a join of two tables with times."""
    declared = f", WATERMARK FOR ts AS {watermark}" if watermark else ""
    return compile_script(_TIMED.format(declared, declared, kind, bounds))


_WITHIN = "l.ts BETWEEN r.ts - INTERVAL '10' SECOND AND r.ts + INTERVAL '20' SECOND"


def at(second: int) -> datetime:
    """A time."""
    return datetime(1970, 1, 1) + timedelta(seconds=second)


def test_an_interval_join_has_the_rows_of_a_join_that_are_not_past() -> None:
    old, new = timed("l.ts <> r.ts", ""), timed(_WITHIN, "ts - INTERVAL '5' SECOND")
    (join,) = (node for node in old.nodes if isinstance(node, Join))
    left = [(1, 7, at(50)), (1, 8, at(84)), (1, 9, at(85)), (2, 7, at(100)), (3, 7, None)]
    right = [(1, 5, at(74)), (1, 6, at(75)), (4, 6, at(100))]
    kept: dict[str, Entries] = {
        name: [((row[0],), row, (2 if row[2] == at(85) else 1,)) for row in rows]
        for name, rows in (("left-records", left), ("right-records", right))
    }
    given = Job(old, {f"{join.id}_join": kept})
    state = MigratedState(given, (old, new), plan_migration(old, new), operators_of(new, Uids()))
    found: dict[str, Any] = {table.name: entries_of(state, table) for _, table in state.manifest.tables()}
    # both watermarks are at 95 s; left rows wait for 10 s, right ones for 20 s
    assert found["IntervalJoinLeftCache"] == [
        ((1,), (85_000,), ([((1, 9, at(85)), False)] * 2,)),
        ((2,), (100_000,), ([((2, 7, at(100)), False)],)),
    ]
    assert found["IntervalJoinRightCache"] == [
        ((1,), (75_000,), ([((1, 6, at(75)), False)],)),
        ((4,), (100_000,), ([((4, 6, at(100)), False)],)),
    ]
    assert found["IntervalJoinRightTimerState"] == [((1,), (95_001,)), ((2,), (110_001,))]
    assert found["IntervalJoinLeftTimerState"] == [((1,), (95_001,)), ((4,), (120_001,))]
    timers = [((1,), (95_001,)), ((2,), (110_001,)), ((4,), (120_001,))]
    assert sorted(found["_timer_state/event_user-timers"]) == timers


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (timed("l.ts <> r.ts", "", "LEFT "), timed(_WITHIN, "ts", "LEFT "), "may have been emitted"),
        (timed(_WITHIN, "ts"), timed("l.ts <> r.ts", ""), "has kept the rows of table l only until they were past"),
    ],
    ids=["outer", "from an interval join"],
)
def test_times_that_are_not_known_are_refused(old: Plan, new: Plan, why: str) -> None:
    refusals = list(plan_migration(old, new).without_history.refusals(Allowed()))
    assert any(why in reason for _, reason, _ in refusals)

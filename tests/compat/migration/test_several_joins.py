"""Joins of several inputs, made from joins of two and back: what they keep of the same rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flinkplan.compat.migration.migrated import MigratedState
from flinkplan.compat.migration.planning import plan_migration
from flinkplan.compat.migration.recipe import Allowed
from flinkplan.plan.document import Plan
from flinkplan.plan.nodes import Join, MultiJoin
from flinkplan.plan.uids import Uids
from flinkplan.planner import compile_script
from flinkplan.state.operators import operators_of

from .states import Entries, Job, Row, entries_of

_TABLES = """
CREATE TABLE a (k INT, v INT) WITH ('connector' = 'filesystem', 'path' = '/in/a', 'format' = 'json');
CREATE TABLE b (k INT, w INT) WITH ('connector' = 'filesystem', 'path' = '/in/b', 'format' = 'json');
CREATE TABLE c (k INT, x INT) WITH ('connector' = 'filesystem', 'path' = '/in/c', 'format' = 'json');
CREATE TABLE o (k INT, v INT, w INT, x INT) WITH ('connector' = 'print');
"""
_MERGED = "SET 'table.optimizer.multi-join.enabled' = 'true';"


@cache
def plan(kinds: tuple[str, str], condition: str, merged: bool, ttl: str = "") -> Plan:
    """The plan of two joins on one key, merged into one or not."""
    query = f"SELECT a.k, v, w, x FROM a {kinds[0]}JOIN b ON a.k = b.k {kinds[1]}JOIN c ON a.k = c.k{condition}"
    option = f"SET 'table.exec.state.ttl' = '{ttl}';" if ttl else ""
    return compile_script(f"{option}{_MERGED if merged else ''}{_TABLES}INSERT INTO o {query};")


def kept(of: Plan, rows: Mapping[str, Sequence[Row]]) -> dict[str, dict[str, Entries]]:
    """What Flink's operators keep after these rows of the tables."""
    kinds, condition = _shape(of)
    tables = [list(rows[name]) for name in "abc"]
    merged = [node for node in of.nodes if isinstance(node, MultiJoin)]
    if merged:
        states = {}
        for i, table in enumerate(tables):
            own = {row: (row if i == 0 else ((row[0],), row)) for row in table}
            states[f"multi-join-input-{i}"] = [((row[0],), own[row], (n,)) for row, n in Counter(table).items()]
        return {f"{merged[0].id}_multi-join": states}
    first, second = (node for node in of.nodes if isinstance(node, Join))
    between = [
        (*left, None if right is None else right[1])
        for left in tables[0]
        for right in _matches(left, tables[1], kinds[0], lambda left, right: True)
    ]
    return {
        f"{first.id}_join": _sides(tables[0], tables[1], kinds[0], lambda left, right: True),
        f"{second.id}_join": _sides(between, tables[2], kinds[1], condition),
    }


def _shape(of: Plan) -> tuple[tuple[str, str], Any]:
    text = next(str(node.description) for node in reversed(of.nodes) if isinstance(node, Join | MultiJoin))
    kinds = next(kinds for kinds in _KINDS if of in [plan(kinds, c, m) for c in _CONDITIONS for m in (True, False)])
    return kinds, _above if "x > v" in text or "v < x" in text or "> v" in text else lambda left, right: True


def _above(left: Row, right: Row) -> bool:
    return None not in (left[1], right[1]) and right[1] > left[1]


def _matches(left: Row, rows: Sequence[Row], kind: str, condition: Any) -> list[Row | None]:
    found: list[Row | None] = [r for r in rows if left[0] is not None and r[0] == left[0] and condition(left, r)]
    return found or ([None] if kind else [])


def _sides(left: Sequence[Row], right: Sequence[Row], kind: str, condition: Any) -> dict[str, Entries]:
    met = {row: len(_matches(row, right, "", condition)) for row in left}
    lefts = [((row[0],), row, (n, met[row]) if kind else (n,)) for row, n in Counter(left).items()]
    return {"left-records": lefts, "right-records": [((r[0],), r, (n,)) for r, n in Counter(right).items()]}


_KINDS = [("", ""), ("LEFT ", ""), ("", "LEFT "), ("LEFT ", "LEFT ")]
_CONDITIONS = ["", " AND x > v"]
_VALUES = st.none() | st.integers(1, 3)
_ROWS = st.lists(st.tuples(_VALUES, _VALUES), max_size=5)


def carried(old: Plan, new: Plan, rows: Mapping[str, Sequence[Row]]) -> dict[str, dict[str, Entries]]:
    """The states of the operators of the new plan, made from those of the old one."""
    state = MigratedState(Job(old, kept(old, rows)), (old, new), plan_migration(old, new), operators_of(new, Uids()))
    return {
        operator.uid or "": {table.name: entries_of(state, table) for table in operator.states}
        for operator in state.manifest.operators
    }


@given(
    st.sampled_from(_KINDS),
    st.sampled_from(_CONDITIONS),
    st.booleans(),
    st.fixed_dictionaries({name: _ROWS for name in "abc"}),
)
@settings(max_examples=30, deadline=None)
def test_joins_are_merged_and_parted(
    kinds: tuple[str, str], condition: str, merged: bool, rows: dict[str, list[Row]]
) -> None:
    old, new = plan(kinds, condition, not merged), plan(kinds, condition, merged)
    assert not list(plan_migration(old, new).refusals(Allowed()))
    found = carried(old, new, rows)
    for uid, states in kept(new, rows).items():
        for name, entries in states.items():
            assert sorted(found.get(uid, {}).get(name, []), key=repr) == sorted(entries, key=repr), (uid, name)


@pytest.mark.parametrize(("merged", "refused"), [(True, 0), (False, 1)], ids=["merged", "parted"])
def test_what_was_joined_longer_ago_than_its_rows_live_is_not_known(merged: bool, refused: int) -> None:
    old, new = (plan(("", ""), "", is_merged, "1 h") for is_merged in (not merged, merged))
    refusals = list(plan_migration(old, new).without_history.refusals(Allowed()))
    assert len(refusals) == refused
    assert all("multi-join has forgotten rows after its TTL" in why for _, why, _ in refusals)


def test_the_row_of_a_unique_key_stands_by_the_join_key() -> None:
    last = "(SELECT k, MAX(w) AS w FROM b GROUP BY k)"
    query = f"SELECT a.k, v, w, x FROM a JOIN {last} b ON a.k = b.k LEFT JOIN c ON a.k = c.k"
    parted, merged = (compile_script(f"{option}{_TABLES}INSERT INTO o {query};") for option in ("", _MERGED))
    counted = {"a": [((1,), (1, 10), (2,))], "c": [((1,), (1, 7), (1,)), ((3,), (3, 8), (1,))]}
    uids = {node.metadata.name: f"{node.id}_{kind}" for node, kind in _keeping(merged)}
    groups: dict[str, Entries] = {"accState": [((1,), (100,)), ((2,), (200,))]}  # type: ignore[list-item]
    inputs: dict[str, Entries] = {
        "multi-join-input-0": counted["a"],
        "multi-join-input-1": [((k,), (k,), (k, w)) for k, w in ((1, 100), (2, 200))],
        "multi-join-input-2": [(key, (key, row), number) for key, row, number in counted["c"]],
    }
    job = Job(merged, {uids["stream-exec-group-aggregate"]: groups, uids["stream-exec-multi-join"]: inputs})
    state = MigratedState(job, (merged, parted), plan_migration(merged, parted), operators_of(parted, Uids()))
    first, second = ([f"{node.id}_join"] for node in parted.nodes if isinstance(node, Join))
    found = {
        (o.uid, table.name): entries_of(state, table) for o, table in state.manifest.tables() if o.uid in first + second
    }
    assert found == {
        (*first, "left-records"): counted["a"],
        (*first, "right-records"): [((1,), (1, 100)), ((2,), (2, 200))],
        (*second, "left-records"): [((1,), (1, 10, 100), (2, 1))],
        (*second, "right-records"): counted["c"],
    }
    again = Job(
        parted, {o.uid or "": {t.name: entries_of(state, t) for t in o.states} for o in state.manifest.operators}
    )
    back = MigratedState(again, (parted, merged), plan_migration(parted, merged), operators_of(merged, Uids()))
    owned = (t for o, t in back.manifest.tables() if o.uid == uids["stream-exec-multi-join"])
    assert {table.name: entries_of(back, table) for table in owned} == inputs


def _keeping(of: Plan) -> list[tuple[Any, str]]:
    return [(node, kind) for node in of.nodes for kind in node.stateful_transformations]

"""What ``flinkplan state`` shows of a checkpoint."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flinkplan.executor.jobs.states import Entry, State, count, entries, find_states
from flinkplan.plan.errors import PlanError
from flinkplan.planner import compile_script
from flinkplan.state.checkpoint import CheckpointRecord
from flinkplan.state.keys import KeyValues
from tests.cli.support import flinkplan
from tests.compat.pipelines import (
    FIRST,
    FIRST_COLUMNS,
    JOIN,
    JOIN_COLUMNS,
    OVER,
    OVER_COLUMNS,
    SUMS,
    SUMS_COLUMNS,
    TOP,
    TOP_COLUMNS,
    WINDOW,
    WINDOW_COLUMNS,
    script,
)
from tests.compat.test_truth_spark import Runner, put
from tests.compat.truths import Edit, as_compiled, left_ttl, order, shipment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

CASCADE = f"SELECT id, MAX(price), MIN(cost) FROM ({JOIN}) GROUP BY id"


def states(spark: SparkSession, folder: Path, query: str, columns: str, edit: Edit = as_compiled) -> list[State]:
    """The states that a query leaves behind after a few rows."""
    put(folder, {"orders/a": [order(1, amount=2), order(2, amount=3)], "shipments/a": [shipment(1)]})
    Runner(spark, folder).run(edit(compile_script(script(query, columns))))
    return find_states(folder / "checkpoint")


def test_sums(spark: SparkSession, tmp_path: Path) -> None:
    (state,) = states(spark, tmp_path, SUMS, SUMS_COLUMNS)
    assert (state.sink, state.operator, state.node, state.name) == ("report", 0, "group-aggregate", "accumulators")
    (entry,) = entries(spark, state, KeyValues(("p",)), limit=5)
    assert (entry.key, entry.expires, entry.value["sum_amount"]["sum"]) == (("p",), None, 5)
    assert list(entries(spark, state, KeyValues(("q",)), limit=5)) == []


@pytest.mark.parametrize(
    ("query", "columns", "nodes"),
    [
        pytest.param(CASCADE, JOIN_COLUMNS, {"group-aggregate", "join"}, id="join-and-aggregate"),
        pytest.param(WINDOW, WINDOW_COLUMNS, {"global-window-aggregate"}, id="window"),
        pytest.param(OVER, OVER_COLUMNS, {"over-aggregate"}, id="over"),
        pytest.param(TOP, TOP_COLUMNS, {"rank"}, id="rank"),
        pytest.param(FIRST, FIRST_COLUMNS, {"deduplicate"}, id="deduplicate"),
    ],
)
def test_the_states_of_every_operator(
    spark: SparkSession, tmp_path: Path, query: str, columns: str, nodes: set[str]
) -> None:
    kept = states(spark, tmp_path, query, columns)
    assert {state.node for state in kept} == nodes
    for state in kept:
        assert count(spark, state) == len(list(entries(spark, state, None, limit=100)))
    assert sum(count(spark, state) for state in kept) > 0


def test_keys_of_windows_by_their_first_columns(spark: SparkSession, tmp_path: Path) -> None:
    (state,) = states(spark, tmp_path, WINDOW, WINDOW_COLUMNS)
    (entry,) = entries(spark, state, KeyValues(("p",)), limit=5)
    assert (entry.key[0], len(entry.key) > 1) == ("p", True)
    assert list(entries(spark, state, KeyValues((None,)), limit=5)) == []


def test_windows_of_a_key(spark: SparkSession, tmp_path: Path) -> None:
    """Few of them, which stand in one value, are shown as many, which stand in a map."""
    query = WINDOW.replace("SUM(amount)", "LAST_VALUE(amount)")
    (state,) = [s for s in states(spark, tmp_path, query, WINDOW_COLUMNS) if s.name == "windows"]
    (entry,) = entries(spark, state, None, limit=5)
    product, end, start = entry.key
    assert (product, end - start, count(spark, state)) == ("p", 600_000, 1)
    assert (entry.value["count"], entry.value["fired"], entry.expires) == (2, False, None)


def test_expiry(spark: SparkSession, tmp_path: Path) -> None:
    started = datetime.now(UTC)
    entries_by_state = {
        s.name: list(entries(spark, s, None, 9)) for s in states(spark, tmp_path, JOIN, JOIN_COLUMNS, left_ttl("1 h"))
    }
    expiries = [entry.expires for entry in entries_by_state["leftState"]]
    assert [started < e - timedelta(hours=1) < datetime.now(UTC) for e in expiries if e] == [True, True]
    assert [(entry.is_expired, entry.expires) for entry in entries_by_state["rightState"]] == [(False, None)]


def test_expired_entries_are_cleaned_up(spark: SparkSession, tmp_path: Path) -> None:
    """By the next micro-batch, whatever it brings."""
    states(spark, tmp_path, JOIN, JOIN_COLUMNS, left_ttl("1 ms"))
    put(tmp_path, {"shipments/b": [shipment(9)]})
    Runner(spark, tmp_path).run(left_ttl("1 ms")(compile_script(script(JOIN, JOIN_COLUMNS))))
    entries_by_state = {s.name: list(entries(spark, s, None, 9)) for s in find_states(tmp_path / "checkpoint")}
    assert (len(entries_by_state["leftState"]), len(entries_by_state["rightState"])) == (0, 2)
    assert Entry(("left",), None, datetime(2020, 1, 1, tzinfo=UTC)).is_expired


def test_the_command(spark: SparkSession, tmp_path: Path) -> None:
    states(spark, tmp_path, CASCADE, JOIN_COLUMNS)
    folder = str(tmp_path / "checkpoint")
    assert _words(flinkplan("state", folder).out) == [
        ["sink", "operator", "node", "state", "entries"],
        ["report", "0", "group-aggregate", "accumulators", "1"],
        ["report", "1", "join", "leftState", "2"],
        ["report", "1", "join", "rightState", "1"],
    ]
    told = [json.loads(line) for line in flinkplan("state", folder, "--key", "1", "--format", "json").out.splitlines()]
    assert [(line["node"], line["key"], line["expires"]) for line in told] == [
        ("group-aggregate", [1], None),
        ("join", [1], None),
        ("join", [1], None),
    ]
    listed = flinkplan("state", folder, "--operator", "j*").out
    assert 'report, operator 1 (join), rightState\n  [1]: {"order_id": 1, "cost": "5.00"}  never expires\n' in listed
    assert flinkplan("state", folder, "--key", "[1]").out == flinkplan("state", folder, "--key", "1").out
    assert flinkplan("state", folder, "--key", "1,2").code == 3
    outcome = flinkplan("state", folder, "--operator", "rank")
    assert (outcome.code, "the operators are report: 0 group-aggregate, report: 1 join" in outcome.err) == (3, True)


def test_a_directory_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    (tmp_path / "savepoint-1").mkdir()
    (tmp_path / "savepoint-1" / "_metadata").touch()
    outcome = flinkplan("state", str(tmp_path))
    assert (outcome.code, "there is no checkpoint here" in outcome.err, "savepoint-1" in outcome.err) == (3, True, True)


def test_a_checkpoint_without_state_says_why(tmp_path: Path) -> None:
    record = CheckpointRecord(tmp_path)
    record.prepare()
    record.begin(compile_script(script(SUMS, SUMS_COLUMNS)), "bounded", {})
    with pytest.raises(PlanError, match="has not begun a batch"):
        find_states(tmp_path)
    record.finish("report")
    with pytest.raises(PlanError, match="bounded input, which keeps no state"):
        find_states(tmp_path)


def _words(text: str) -> list[list[Any]]:
    return [line.split() for line in text.splitlines()]

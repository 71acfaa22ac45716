"""Tables over the state of an operator in a savepoint."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from flinkplan import EnvironmentSettings, TableEnvironment
from flinkplan.plan.errors import FlinkplanError
from tests.flink.test_writing import AGGREGATE, SAVEPOINTS

pytestmark = [pytest.mark.flink, pytest.mark.spark]


def rows(columns: str, place: Path, query: str, options: Mapping[str, str] | None = None) -> list[tuple[object, ...]]:
    """The rows of a query over the table ``s`` with these columns and options."""
    named = {"connector": "savepoint", "state.path": str(place)}
    named |= options or {}
    properties = ", ".join(f"'{key}' = '{value}'" for key, value in named.items())
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.execute_sql(f"CREATE TABLE s ({columns}, PRIMARY KEY (k) NOT ENFORCED) WITH ({properties})")
    with env.execute_sql(query).collect() as found:
        return sorted((tuple(row) for row in found), key=repr)


def test_a_row_has_the_states_of_a_key() -> None:
    columns = "k BIGINT, acc ROW<n BIGINT, s BIGINT, c BIGINT, m STRING>"
    options = {"operator.uid": "4_group-aggregate", "fields.acc.state-name": "accState"}
    found = rows(columns, AGGREGATE, "SELECT k, acc.n, acc.m FROM s", options)
    assert found == [(1, 1, "Hi"), (2, 2, "Hello")]


def test_windows_are_the_keys_of_a_map() -> None:
    place = SAVEPOINTS / "window-join-left-tumble-event-time"
    row = "ROW<name STRING, n INT, k STRING, starts TIMESTAMP(3), ends TIMESTAMP(3)>"
    columns = f"k ROW<k STRING>, `left` MAP<BIGINT, ARRAY<{row}>>"
    options = {"operator.uid": "28_window-join", "fields.left.state-name": "left-records"}
    found = rows(columns, place, "SELECT k.k, `left`[1602288035000][1].name FROM s", options)
    assert found == [("b", "L12"), (None, "L11")]
    place = SAVEPOINTS / "window-aggregate-tumble-event-time"
    columns = "k ROW<k STRING>, `window-aggs` MAP<BIGINT, ROW<f1 INT>>"
    query = "SELECT k.k, `window-aggs`[1602288035000].f1 FROM s"
    assert rows(columns, place, query, {"operator.uid": "6_window-aggregate"}) == [("b", 1), (None, 7)]


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(FlinkplanError, match="has no state acc"):
        rows("k BIGINT, acc STRING", AGGREGATE, "SELECT * FROM s", {"operator.uid": "4_group-aggregate"})
    with pytest.raises(FlinkplanError, match="there is no operator 4_join"):
        rows("k BIGINT, acc STRING", AGGREGATE, "SELECT * FROM s", {"operator.uid": "4_join"})

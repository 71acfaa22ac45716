"""Aggregations that are merged, or get what another one of the old plan keeps."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from flinkplan.compat.migration.migrated import MigratedState
from flinkplan.compat.migration.planning import plan_migration
from flinkplan.compat.migration.recipe import Allowed
from flinkplan.plan.document import Plan
from flinkplan.plan.nodes import GroupAggregate
from flinkplan.plan.record import replace
from flinkplan.planner import compile_script
from flinkplan.state.form import JobState, Manifest, StateTable

from .states import Given, key, operator, plain, row

_TABLE = "CREATE TABLE a (k INT, g INT, v INT, w INT) WITH ('connector' = 'datagen');"


def plan(*queries: str) -> Plan:
    """The plan of queries of an integer and two numbers each."""
    columns = [", ".join(f"c{i} BIGINT" for i in range(query.count(",") + 1)) for query in queries]
    sinks = "".join(f"CREATE TABLE o{i} ({own}) WITH ('connector' = 'print');" for i, own in enumerate(columns))
    inserts = "".join(f"INSERT INTO o{i} {query};" for i, query in enumerate(queries))
    return compile_script(f"{_TABLE}{sinks}EXECUTE STATEMENT SET BEGIN {inserts} END;")


class Several(JobState):
    """The states of several operators."""

    def __init__(self, *states: Given) -> None:
        self._origins: dict[int, tuple[Given, StateTable]] = {}
        operators = []
        for state in states:
            (own,) = state.manifest.operators
            tables = []
            for table in own.states:
                number = len(self._origins)
                self._origins[number] = state, table
                tables.append(replace(table, table=number))
            operators.append(replace(own, states=tuple(tables)))
        self._manifest = Manifest("flink", tuple(operators))

    @property
    def manifest(self) -> Manifest:
        return self._manifest

    def batches(self, table: StateTable) -> Iterator[pa.RecordBatch]:
        state, own = self._origins[table.table]
        return state.batches(own)


def test_aggregations_are_merged() -> None:
    old = plan("SELECT k, SUM(v) FROM a GROUP BY k", "SELECT k, MAX(w), COUNT(*) FROM a GROUP BY k")
    new = plan("SELECT k, SUM(v), MAX(w), COUNT(*) FROM a GROUP BY k")
    migration = plan_migration(old, new)
    assert not list(migration.refusals(Allowed()))
    sums, tops = (node for node in old.nodes if isinstance(node, GroupAggregate))
    (merged,) = (node for node in new.nodes if isinstance(node, GroupAggregate))
    states = Several(
        Given(operator(old, sums), {"accState": [{"key": key(k), "value": row(s)} for k, s in ((1, 7), (None, 2))]}),
        Given(operator(old, tops), {"accState": [{"key": key(k), "value": row(m, 3)} for k, m in ((None, 5), (1, 9))]}),
    )
    template = operator(new, merged)
    state = MigratedState(states, (old, new), migration, [template])
    rows = [
        plain(each)
        for owner, table in state.manifest.tables()
        if owner.uid == template.uid
        for batch in state.batches(table)
        for each in batch.to_pylist()
    ]
    assert rows == [((1,), (7, 9, 3)), ((None,), (2, 5, 3))]


@pytest.mark.parametrize(
    "other",
    [
        "SELECT g, MAX(w), COUNT(*) FROM a GROUP BY g",
        "SELECT k, MAX(w), COUNT(*) FROM a WHERE v > 1 GROUP BY k",
        "SELECT k, MAX(v), COUNT(*) FROM a GROUP BY k",
    ],
    ids=["another key", "other rows", "another column"],
)
def test_other_aggregations_do_not_help(other: str) -> None:
    old = plan("SELECT k, SUM(v) FROM a GROUP BY k", other)
    new = plan("SELECT k, SUM(v), MAX(w) FROM a GROUP BY k")
    assert any("max_w is kept nowhere" in why for _, why, _ in plan_migration(old, new).refusals(Allowed()))

"""Joins that are not reordered: those of conditions that Flink would lose, and more than the threshold says."""

from __future__ import annotations

import pytest

from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner import compile_script

TABLES = "".join(f"CREATE TABLE t{i} (a{i} INT, b{i} INT) WITH ('connector'='datagen');" for i in range(4))
ON = "SET 'table.optimizer.join-reorder-enabled' = 'true';"
INTO = "CREATE TABLE o (x INT) WITH ('connector'='blackhole'); INSERT INTO o"


def test_conditions_between_tables_without_a_common_join_stay() -> None:
    """Flink's rule drops ``a2 = a3``, so that its rows are wrong."""
    script = f"{TABLES} {INTO} SELECT b0 FROM t0, t1, t2, t3 WHERE a0 = a1 AND a2 = a3;"
    assert [node.description for node in compile_script(ON + script).nodes] == [
        node.description for node in compile_script(script).nodes
    ]


def test_more_joins_than_the_threshold_are_refused() -> None:
    threshold = "SET 'table.optimizer.bushy-join-reorder-threshold' = '2';"
    with pytest.raises(FlinkplanError, match="a join of 3 tables is not reordered"):
        compile_script(f"{ON}{threshold}{TABLES} {INTO} SELECT b0 FROM t0, t1, t2 WHERE a0 = a1 AND a1 = a2;")

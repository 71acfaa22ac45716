"""Pipelines whose Python aggregate functions have changed."""

from __future__ import annotations

from typing import Any

import pytest

from flinkplan.compat.comparing import compare
from flinkplan.compat.diff import judge
from flinkplan.plan.document import Plan
from flinkplan.table import DataTypes, EnvironmentSettings, TableEnvironment
from flinkplan.table.udf import AggregateFunction, udaf


class Total(AggregateFunction):
    """A sum."""

    def create_accumulator(self) -> Any:
        return [0]

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        accumulator[0] += args[0]

    def get_value(self, accumulator: Any) -> Any:
        return accumulator[0]


def plan(element: Any, name: str = "total") -> Plan:
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    total = udaf(Total(), result_type=DataTypes.BIGINT(), accumulator_type=DataTypes.ARRAY(element))
    environment.create_temporary_system_function(name, total)
    environment.execute_sql("CREATE TABLE t (k INT, v INT) WITH ('connector' = 'datagen')")
    environment.execute_sql("CREATE TABLE o (k INT, s BIGINT) WITH ('connector' = 'print')")
    return environment.compile_plan_sql(f"INSERT INTO o SELECT k, {name}(v) FROM t GROUP BY k").plan


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (lambda: plan(DataTypes.BIGINT()), []),
        (lambda: plan(DataTypes.INT()), ["accumulator-type-changed"]),
        (lambda: plan(DataTypes.BIGINT(), "amount"), ["identity-changed"]),
    ],
)
def test_accumulators_are_compared_by_their_declared_types(new: Any, expected: list[str]) -> None:
    judgements = judge(compare(plan(DataTypes.BIGINT()), new()))
    assert [judgement.rule.id for judgement in judgements] == expected

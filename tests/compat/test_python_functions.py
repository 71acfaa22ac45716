"""Pipelines whose Python aggregate functions have changed."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from flinkplan.compat.comparing import compare
from flinkplan.compat.diff import judge
from flinkplan.plan.document import Plan
from flinkplan.table import DataTypes, EnvironmentSettings, TableEnvironment
from flinkplan.table.udf import AggregateFunction, udaf, udf, udtf


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


def clicks(limit: str, *queries: str) -> Plan:
    """A plan of queries over clicks, with a function of each kind."""
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    environment.create_temporary_function("loud", udf(str.upper, result_type=DataTypes.STRING()))
    environment.create_temporary_function("letters", udtf(lambda text: list(text), result_types=[DataTypes.STRING()]))
    environment.create_temporary_function("total", udaf(Total(), result_type="INT", accumulator_type="ARRAY<INT>"))
    environment.create_temporary_function(
        "widest", udaf(lambda v: v.max(), result_type=DataTypes.INT(), func_type="pandas")
    )
    environment.execute_sql(
        "CREATE TABLE t (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen')"
    )
    environment.execute_sql("CREATE TABLE o (k STRING, v INT) WITH ('connector' = 'print')")
    inserts = environment.create_statement_set()
    for query in queries:
        inserts.add_insert_sql(f"INSERT INTO o {query.replace('LIMIT', limit)}")
    return inserts.compile_plan().plan


QUERIES = (
    "SELECT loud(k), v FROM t WHERE v > LIMIT",
    "SELECT l, v + LIMIT FROM t, LATERAL TABLE(letters(k)) AS x(l)",
    "SELECT k, total(v + LIMIT) FROM t GROUP BY k",
    "SELECT k, total(v + LIMIT) FROM t GROUP BY k, HOP(ts, INTERVAL '1' SECOND, INTERVAL '2' SECOND)",
    "SELECT k, widest(v + LIMIT) FROM t GROUP BY k, TUMBLE(ts, INTERVAL '2' SECOND)",
    "SELECT k, widest(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN LIMIT PRECEDING AND CURRENT ROW) FROM t",
)


def test_a_plan_goes_on_from_its_own_state() -> None:
    assert judge(compare(clicks("3", *QUERIES), clicks("3", *QUERIES))) == []


@pytest.mark.parametrize("query", QUERIES)
def test_other_literals_are_noticed(query: str) -> None:
    assert judge(compare(clicks("3", query), clicks("4", query))) != []


NAMES = """
import re
from flinkplan.table import DataTypes, EnvironmentSettings, TableEnvironment
from flinkplan.table.expressions import col
from flinkplan.table.udf import udf

def shifted(by):
    return udf(lambda i: i + by, result_type=DataTypes.INT())

env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
table = env.from_elements([(1,)], ["i"]).select(shifted(1)(col("i")), shifted(2)(col("i")))
print(*sorted({*re.findall("Function[$]([0-9a-f]+)", table.explain())}))
"""


def test_functions_without_names_are_called_alike_by_each_process() -> None:
    runs = [subprocess.run([sys.executable, "-c", NAMES], capture_output=True, text=True, check=True) for _ in range(2)]
    first, second = (run.stdout.split() for run in runs)
    assert first == second and len(first) == 2

"""What Flink compiles but never runs is refused before a job starts, without Spark."""

from __future__ import annotations

import pytest

from flinkplan.executor.prepare.checks import check_nodes
from flinkplan.plan.document import Plan
from flinkplan.plan.errors import UnsupportedError
from flinkplan.planner import compile_script

TABLES = """
CREATE TABLE t (i INT, bi BIGINT, dc DECIMAL(10, 2), s STRING, y BYTES, ts TIMESTAMP(3), ltz TIMESTAMP_LTZ(3),
  ai ARRAY<INT>, r ROW<a INT, b STRING>, dt DATE, bo BOOLEAN) WITH ('connector' = 'datagen');
CREATE TABLE u (i INT, s STRING) WITH ('connector' = 'datagen');
CREATE TABLE o (x STRING) WITH ('connector' = 'blackhole');
"""


def compiled(query: str) -> Plan:
    return compile_script(f"{TABLES}INSERT INTO o {query};")


@pytest.mark.parametrize(
    ("expression", "types", "hint"),
    [
        ("CAST(bi AS TIMESTAMP(3))", "BIGINT cannot be cast to TIMESTAMP(3)", "TO_TIMESTAMP_LTZ"),
        ("TRY_CAST(dc AS TIMESTAMP_LTZ(3))", "DECIMAL(10, 2) cannot be cast to TIMESTAMP_LTZ(3)", "TO_TIMESTAMP_LTZ"),
        ("CAST(ts AS INT)", "TIMESTAMP(3) cannot be cast to INT", "UNIX_TIMESTAMP"),
        ("CAST(ltz AS DOUBLE)", "TIMESTAMP_LTZ(3) cannot be cast to DOUBLE", "UNIX_TIMESTAMP"),
        ("CAST(s AS ARRAY<INT>)", "STRING cannot be cast to ARRAY<INT>", "SPLIT"),
        ("CAST(y AS DATE)", "BYTES cannot be cast to DATE", "STRING first"),
        ("CAST(ai AS ARRAY<TIMESTAMP(3)>)", "ARRAY<INT> cannot be cast to ARRAY<TIMESTAMP(3)>", "TO_TIMESTAMP_LTZ"),
        ("CAST(r AS ROW<a TIMESTAMP(0), b STRING>)", "cannot be cast to ROW<`a` TIMESTAMP(0)", "TO_TIMESTAMP_LTZ"),
        ("i = s", "INT and STRING are not converted implicitly", "CAST one side"),
        ("s <> 1", "STRING and INT are not converted implicitly", "CAST one side"),
        ("s IS NOT DISTINCT FROM bi", "STRING and BIGINT are not converted implicitly", "CAST one side"),
        ("s = 1 OR s = 2", "STRING and INT are not converted implicitly", "CAST one side"),
        ("TIMESTAMPDIFF(HOUR, ltz, ts)", "not taken from each other", "CAST one side"),
        ("JSON_OBJECT(KEY s VALUE i)", "operand 2 of JSON_OBJECT must be a literal", "write its value"),
        ("ROW(s, s)[i]", "operand 2 of ITEM must be a literal", "write its value"),
        ("OBJECT_UPDATE(OBJECT_OF('C', 'a', 1), s, 5)", "operand 2 of OBJECT_UPDATE must be a literal", "write its"),
        ("NULLIF(dc, s)", "DECIMAL(10, 2) and STRING are not converted implicitly", "CAST one side"),
    ],
)
def test_is_refused_before_the_job(expression: str, types: str, hint: str) -> None:
    plan = compiled(f"SELECT CAST({expression} AS STRING) FROM t")
    with pytest.raises(UnsupportedError) as error:
        check_nodes(plan)
    assert types in error.value.message
    assert hint in str(error.value.hint)
    assert error.value.where == "node 2 (/nodes/1)"


@pytest.mark.parametrize(
    ("query", "node"),
    [
        ("SELECT s FROM t WHERE CAST(ts AS BIGINT) > 5", 2),
        ("SELECT t.s FROM t JOIN u ON t.i = u.i AND t.i <> u.s", 6),
        ("SELECT s FROM t WHERE i NOT IN (SELECT s FROM u)", 7),
    ],
)
def test_wherever_it_stands(query: str, node: int) -> None:
    with pytest.raises(UnsupportedError) as error:
        check_nodes(compiled(query))
    assert str(error.value.where).startswith(f"node {node} ")


@pytest.mark.parametrize(
    "expression",
    [
        *("i < s", "i IN (s)", "s IN (1, 2)", "i BETWEEN s AND s", "dt = s", "bo = s", "ts = ltz", "s = 'a'"),
        *("TIMESTAMPDIFF(DAY, ltz, ltz) > 1", "TIMESTAMPDIFF(DAY, ts, CAST(ts AS DATE)) > 1"),
    ],
)
def test_what_runs_is_let_through(expression: str) -> None:
    check_nodes(compiled(f"SELECT s FROM t WHERE {expression}"))

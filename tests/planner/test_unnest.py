"""What UNNEST reads: a row of all columns of its FROM clause."""

from __future__ import annotations

import pytest

from flinkplan.plan.nodes import Correlate
from flinkplan.plan.rex import CorrelVariable, walk
from flinkplan.planner import compile_script

TABLES = (
    "CREATE TABLE t (id INT, xs ARRAY<STRING>, ys ARRAY<INT>) "
    "WITH ('connector' = 'filesystem', 'path' = '/data/t', 'format' = 'json');"
    "CREATE TABLE o (id INT, x STRING) WITH ('connector' = 'filesystem', 'path' = '/data/o', 'format' = 'json');"
    "CREATE TABLE e (id INT, xs ARRAY<STRING>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
    "WITH ('connector' = 'filesystem', 'path' = '/data/e', 'format' = 'json');"
    "CREATE TABLE p (id INT, pt TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED, WATERMARK FOR pt AS pt) "
    "WITH ('connector' = 'filesystem', 'path' = '/data/p', 'format' = 'debezium-json');"
)
VIEW = "CREATE VIEW v AS SELECT id, x FROM t CROSS JOIN UNNEST(xs) AS a (x);"


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT id, x FROM t CROSS JOIN UNNEST(xs) AS a (x)", "id xs ys x"),
        ("SELECT id, x FROM t CROSS JOIN UNNEST(xs) AS a (x) CROSS JOIN UNNEST(ys) AS b (y)", "id xs ys x y"),
        ("SELECT t.id, x FROM t CROSS JOIN UNNEST(xs) AS a (x) JOIN o USING (x)", "id xs ys x id0 x0"),
        (
            "SELECT id, z FROM (SELECT * FROM t CROSS JOIN UNNEST(xs) AS a (x)) CROSS JOIN (VALUES ('')) v (z)",
            "id xs ys x",
        ),
    ],
)
def test_variables_are_of_all_columns(query: str, columns: str) -> None:
    plan = compile_script(f"{TABLES} INSERT INTO o {query};")
    variables = [
        r
        for n in plan.nodes
        if isinstance(n, Correlate)
        for r in walk(n.function_call)
        if isinstance(r, CorrelVariable)
    ]
    assert variables
    assert {v.type.field_names for v in variables} == {tuple(columns.split())}


@pytest.mark.parametrize(
    ("before", "query", "names"),
    [
        ("", "SELECT id, x FROM t CROSS JOIN UNNEST(xs) AS a (x)", ["$cor0"]),
        ("", "WITH w AS (SELECT id, x FROM t, UNNEST(xs) AS a (x)) SELECT id, x FROM w", ["$cor0"]),
        (VIEW, "SELECT id, x FROM v", ["$cor1"]),
        (f"{VIEW} CREATE VIEW u AS SELECT id, x FROM v;", "SELECT id, x FROM u", ["$cor2"]),
        (f"{VIEW} DROP VIEW v;", "SELECT id, x FROM t CROSS JOIN UNNEST(xs) AS a (x)", ["$cor1"]),
        (VIEW, "SELECT a.id, b.x FROM v a JOIN v b ON a.id = b.id", ["$cor1", "$cor2"]),
        (VIEW, "WITH w AS (SELECT * FROM v) SELECT a.id, b.x FROM w a JOIN w b ON a.id = b.id", ["$cor1", "$cor2"]),
        ("", "SELECT e.id, x FROM e JOIN p FOR SYSTEM_TIME AS OF e.ts ON e.id = p.id, UNNEST(xs) AS a (x)", ["$cor1"]),
    ],
)
def test_variables_are_numbered_through_the_session(before: str, query: str, names: list[str]) -> None:
    plan = compile_script(f"{TABLES} {before} INSERT INTO o {query};")
    calls = [n.function_call for n in plan.nodes if isinstance(n, Correlate)]
    assert [r.correl for call in calls for r in walk(call) if isinstance(r, CorrelVariable)] == names

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
)


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

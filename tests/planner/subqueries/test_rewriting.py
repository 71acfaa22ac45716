"""Subqueries inside the operand of another one: the joins that Flink 2.3 makes of them."""

from __future__ import annotations

import pytest

from flinkplan.plan.errors import UnsupportedError
from flinkplan.plan.nodes import Join
from flinkplan.planner import compile_script

TABLES = """
CREATE TABLE t (a INT, b INT) WITH ('connector' = 'datagen');
CREATE TABLE u (a INT, b INT) WITH ('connector' = 'datagen');
CREATE TABLE o (a INT) WITH ('connector' = 'blackhole');
"""

SCALAR = "Join(joinType=[LeftOuterJoin], where=[true], select=[a, EXPR$0], "


@pytest.mark.parametrize(
    ("condition", "joins"),
    [
        (
            "(SELECT MAX(a) FROM u) IN (SELECT b FROM u)",
            [SCALAR, "Join(joinType=[LeftSemiJoin], where=[(EXPR$0 = b)], select=[a, EXPR$0], "],
        ),
        (
            "(a, (SELECT MAX(a) FROM u)) IN (SELECT a, b FROM u)",
            [SCALAR, "Join(joinType=[LeftSemiJoin], where=[((a = a0) AND (EXPR$0 = b))], select=[a, EXPR$0], "],
        ),
        (
            "(a IN (SELECT b FROM u)) IN (SELECT a > 1 FROM u)",
            [
                "Join(joinType=[InnerJoin], where=[true], select=[a, c, ck], ",
                "Join(joinType=[LeftOuterJoin], where=[(a = b)], select=[a, c, ck, b, i], ",
                "Join(joinType=[LeftSemiJoin], where=[($f",
            ],
        ),
    ],
)
def test_a_subquery_in_the_operand_of_in(condition: str, joins: list[str]) -> None:
    plan = compile_script(f"{TABLES} INSERT INTO o SELECT a FROM t WHERE {condition};")
    descriptions = [node.description for node in plan.nodes if isinstance(node, Join)]
    assert len(descriptions) == len(joins)
    assert all(description.startswith(start) for description, start in zip(descriptions, joins, strict=True)), (
        descriptions
    )


LEAST = "(SELECT MAX(u.a) FROM u WHERE u.b = t.b)"
UNNESTED = "n CROSS JOIN UNNEST(n.l) AS x (t)"


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT t.a FROM t JOIN (SELECT x.t FROM {UNNESTED}) AS y ON y.t = t.b WHERE t.a > {LEAST}",
        f"SELECT t.a FROM t WHERE t.a > {LEAST} UNION ALL SELECT x.t FROM {UNNESTED}",
        f"SELECT t.a FROM t WHERE t.a > {LEAST} AND t.b IN (SELECT x.t FROM {UNNESTED})",
        f"SELECT t.a FROM t JOIN (VALUES (1)) AS v (x) ON t.a = v.x WHERE t.a > {LEAST}",
        f"SELECT b FROM (SELECT b, {LEAST} AS m FROM t) WHERE m > 5 AND m IN (2, 3)",
        f"SELECT b FROM (SELECT b, {LEAST} AS m FROM t) WHERE b > 5 AND b IN (2, 3)",
        "SELECT n.a FROM n WHERE n.a > (SELECT MAX(u.a) FROM u WHERE u.b = n.r.c)",
        "SELECT n.a FROM n WHERE n.a > (SELECT MAX(u.a) FROM u WHERE u.b = ABS(n.r.s.c))",
    ],
)
def test_a_correlation_that_flink_leaves_as_it_is(query: str) -> None:
    script = f"""{TABLES}
    CREATE TABLE n (a INT, l ARRAY<INT>, r ROW<c INT, s ROW<c INT>>) WITH ('connector' = 'datagen');
    INSERT INTO o {query};"""
    with pytest.raises(UnsupportedError, match="reads the outer row in"):
        compile_script(script)

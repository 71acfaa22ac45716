"""Subqueries inside the operand of another one: the joins that Flink 2.3 makes of them."""

from __future__ import annotations

import pytest

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


def test_a_subquery_that_compares_with_a_field_of_an_outer_row() -> None:
    plan = compile_script(
        f"{TABLES} CREATE TABLE n (a INT, r ROW<b INT>) WITH ('connector' = 'datagen');"
        "INSERT INTO o SELECT a FROM n WHERE a > (SELECT MAX(a) FROM u WHERE u.b = n.r.b);"
    )
    conditions = [node.description for node in plan.nodes if isinstance(node, Join)]
    assert any("where=[((r = r0) AND (a > EXPR$0))]" in description for description in conditions)

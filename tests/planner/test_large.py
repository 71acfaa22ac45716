"""Scripts that programs write: what takes time that grows with the square of a script, or faster, never ends here."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from flinkplan.plan.nodes import Calc, Join
from flinkplan.plan.rex import Call, Sarg
from flinkplan.plan.types import row
from flinkplan.planner import compile_script
from flinkplan.planner.algebra.logical import Rel, SetKind, SetOp, Values
from flinkplan.planner.metadata.memo import found_once

TABLES = """
CREATE TABLE t (a INT) WITH ('connector' = 'datagen');
CREATE TABLE o (a INT) WITH ('connector' = 'blackhole');
"""


def test_forty_joins() -> None:
    joins = " ".join(f"JOIN t t{i} ON t{i}.a = t{i - 1}.a" for i in range(1, 41))
    plan = compile_script(f"{TABLES} INSERT INTO o SELECT t0.a FROM t t0 {joins};")
    assert sum(isinstance(node, Join) for node in plan.nodes) == 40


@pytest.mark.parametrize(("operator", "ranges"), [("IN", 5000), ("NOT IN", 5001)])
def test_a_list_of_thousands_of_values(operator: str, ranges: int) -> None:
    values = ", ".join(str(2 * i) for i in range(5000))
    plan = compile_script(f"{TABLES} INSERT INTO o SELECT a FROM t WHERE a {operator} ({values});")
    (calc,) = (node for node in plan.nodes if isinstance(node, Calc))
    assert isinstance(calc.condition, Call)
    sarg = calc.condition.operands[1]
    assert isinstance(sarg, Sarg)
    assert len(sarg.ranges) == ranges


@pytest.mark.parametrize("values", [range(3000), [f"'x{i:04}'" for i in range(3000)]], ids=["numbers", "texts"])
def test_thousands_of_inequalities(values: Sequence[object]) -> None:
    column = "CHAR_LENGTH(CAST(a AS STRING))" if isinstance(values, range) else "CAST(a AS STRING)"
    condition = " AND ".join(f"{column} <> {value}" for value in values)
    plan = compile_script(f"{TABLES} INSERT INTO o SELECT a FROM t WHERE {condition};")
    assert any(isinstance(node, Calc) and node.condition is not None for node in plan.nodes)


def test_what_is_known_of_a_relation_is_found_once() -> None:
    asked: list[Rel] = []

    @found_once
    def depth(rel: Rel, step: int = 1) -> int:
        asked.append(rel)
        return step + max((depth(i, step) for i in rel.inputs), default=0)

    values = Values(row_type=row(()), tuples=())
    rel: Rel = values
    for _ in range(20):
        rel = SetOp(kind=SetKind.UNION, all=True, operands=(rel, rel), row_type=row(()))
    assert depth(rel) == depth(rel) == 21
    assert len(asked) == 21
    assert depth(rel, 2) == depth(rel, step=2) == 42

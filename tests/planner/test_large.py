"""Scripts that programs write: what takes time that grows with the square of a script, or faster, never ends here."""

from __future__ import annotations

import pytest

from flinkplan.plan.nodes import Calc, Join
from flinkplan.plan.rex import Call, Sarg
from flinkplan.planner import compile_script

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

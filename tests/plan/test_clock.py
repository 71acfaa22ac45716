"""Which nodes go by the clock."""

from __future__ import annotations

import json

import pytest

from flinkplan.plan.clock import is_by_clock
from flinkplan.plan.document import dumps, loads
from flinkplan.plan.nodes import OverAggregate
from flinkplan.planner import compile_script

OVER = """
    CREATE TABLE s (k INT, pt AS PROCTIME()) WITH ('connector' = 'datagen');
    CREATE TABLE o (n BIGINT) WITH ('connector' = 'print');
    INSERT INTO o SELECT COUNT(*) OVER (PARTITION BY k ORDER BY pt) FROM s;
"""


@pytest.mark.parametrize(("column", "expected"), [(None, True), (0, False), (9, False), (-9, False)])
def test_an_order_goes_by_the_clock_if_its_first_column_does(column: int | None, expected: bool) -> None:
    document = json.loads(dumps(compile_script(OVER)))
    (over,) = (node for node in document["nodes"] if "over" in node["type"])
    order = over["overSpec"]["groups"][0]["orderBy"]["fields"]
    if column is not None:
        order[0]["index"] = column
    plan = loads(json.dumps(document))
    (node,) = (node for node in plan.nodes if isinstance(node, OverAggregate))
    assert is_by_clock(node, plan) is expected

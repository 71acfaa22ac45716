"""Plans with Java functions are those that Flink compiles, by ``functions.json`` alone: no JVM is started."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from flinkplan.plan.document import dumps
from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner.script import parse_pipeline
from flinkplan.planner.session import Session
from flinkplan.planner.sql import ast
from flinkplan.table.function_loader import FunctionLoader
from flinkplan.table.storable import check_storable
from tests.parity.java.cases import CASES, FOLDER, Case, definitions, inner_nodes

NOWHERE = Path("/nowhere")
DIFFERENT = {
    "norm-row-refused": "Flink shows no cast of a ROW to a structured type, and fails when it runs",
    "opened-constant": "a call of constants sees no job parameters",
}
"""Cases with other plans than Flink's."""


@cache
def session() -> Session:
    """A session with all tables and functions."""
    loader = FunctionLoader(lambda: [str(FOLDER / "functions.json")])
    made = Session({"table.local-time-zone": "UTC"}, load=loader)
    for statement in parse_pipeline(definitions(NOWHERE), "definitions.sql").statements:
        made.apply(statement)
    return made


@pytest.mark.parametrize("case", [case for case in CASES if case.name not in DIFFERENT], ids=lambda case: case.name)
def test_plan_is_that_of_flink(case: Case) -> None:
    table, insert = parse_pipeline(case.table(NOWHERE) + case.insert, f"{case.name}.sql").statements
    assert isinstance(insert, ast.Insert)
    session().apply(table)
    if case.flink["verdict"] == "refused":
        with pytest.raises(FlinkplanError):
            check_storable(session().compile(insert))
        return
    plan = session().compile(insert)
    check_storable(plan)
    ours = json.loads(dumps(plan))
    first = min(node["id"] for node in ours["nodes"])
    for node in ours["nodes"]:
        node["id"] += 1 - first
    assert inner_nodes(ours) == inner_nodes(case.flink)

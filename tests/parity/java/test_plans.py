"""Plans with Java functions are those that Flink compiles, by ``functions.json`` alone: no JVM is started.

Those with the same functions in Python are, too, but for what names the function and its states.
"""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from flinkplan.plan.document import dumps
from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner.script import parse_pipeline
from flinkplan.planner.session import Session
from flinkplan.planner.sql import ast
from flinkplan.table.function_loader import FunctionLoader
from flinkplan.table.storable import check_storable
from tests.parity.java.cases import JAVA, PROCESS, PTFS, Case, Suite, inner_nodes

NOWHERE = Path("/nowhere")
DIFFERENT = {
    "norm-row-refused": "Flink shows no cast of a ROW to a structured type, and fails when it runs",
    "opened-constant": "a call of constants sees no job parameters",
    "series-join": "a process table function without tables is not joined",
}
"""Cases with other plans than Flink's."""


@cache
def session(suite: Suite) -> Session:
    """A session with all tables and functions."""
    made = Session({"table.local-time-zone": "UTC"}, load=FunctionLoader(lambda: [suite.functions]))
    for statement in parse_pipeline(suite.definitions(NOWHERE), "definitions.sql").statements:
        made.apply(statement)
    return made


PAIRS = [(suite, case) for suite in (JAVA, PROCESS) for case in suite.cases if case.name not in DIFFERENT]


@cache
def python_session() -> Session:
    """A session with the same process table functions in Python."""
    module = str(PROCESS.folder / f"{PTFS}.py")
    made = Session({"table.local-time-zone": "UTC"}, load=FunctionLoader(lambda: [module]))
    for statement in parse_pipeline(PROCESS.definitions(NOWHERE, PTFS), "definitions.sql").statements:
        made.apply(statement)
    return made


@pytest.mark.parametrize(("suite", "case"), PAIRS, ids=lambda value: value.name if isinstance(value, Case) else "")
def test_plan_is_that_of_flink(suite: Suite, case: Case) -> None:
    check_plan(session(suite), case, case.flink.get("nodes"))


ONLY_IN_JAVA = {"pojo-out": "a structured type, which has a class, is refused by the sink"}


@pytest.mark.parametrize(
    "case", [c for s, c in PAIRS if s is PROCESS and c.name not in ONLY_IN_JAVA], ids=lambda case: case.name
)
def test_plan_of_a_function_in_python_is_that_of_the_one_in_java(case: Case) -> None:
    nodes = copy.deepcopy(case.flink.get("nodes"))
    for node in nodes or ():
        node.get("functionCall", {}).pop("class", None)
    check_plan(python_session(), case, nodes)


def check_plan(session: Session, case: Case, nodes: Any) -> None:
    table, insert = parse_pipeline(case.table(NOWHERE) + case.insert, f"{case.name}.sql").statements
    assert isinstance(insert, ast.Insert)
    session.apply(table)
    if case.flink["verdict"] == "refused":
        with pytest.raises(FlinkplanError):
            check_storable(session.compile(insert))
        return
    plan = session.compile(insert)
    check_storable(plan)
    ours = json.loads(dumps(plan))
    first = min(node["id"] for node in ours["nodes"])
    for node in ours["nodes"]:
        node["id"] += 1 - first
        if "functionCall" in node:
            node.pop("state", None)  # Flink's plans have none
    assert inner_nodes(ours) == inner_nodes({"nodes": nodes})

"""Statements and the descriptions of the nodes of Flink 2.3's plans, in ``flink_plans`` beside this file.

A statement, with the settings and views it needs, stands before its plan: each node's number and inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from flinkplan.plan.document import Plan
from flinkplan.planner.script import definitions
from flinkplan.planner.session import Session
from flinkplan.planner.sql import ast, parse_script

from .sessions import copied

FOLDER = Path(__file__).parent / "flink_plans"
TABLES = (FOLDER / "tables.sql").read_text("utf-8")


def statements() -> Iterator[ParameterSet]:
    for file in sorted(FOLDER.glob("*.txt")):
        blocks = file.read_text("utf-8").strip("\n").split("\n\n")
        for number, (script, plan) in enumerate(zip(blocks[::2], blocks[1::2], strict=True), 1):
            yield pytest.param(script, plan, id=f"{file.stem}-{number}")


def described(plan: Plan) -> str:
    """Each node's number, inputs and description."""
    inputs = {node.id: [edge.source for edge in plan.edges if edge.target == node.id] for node in plan.nodes}
    lines = (
        f"  {node.id}{' <- ' * bool(inputs[node.id])}{','.join(map(str, inputs[node.id]))}: {node.description}"
        for node in plan.nodes
    )
    return "\n".join(lines)


@cache
def tables() -> Session:
    """A session with the tables of all statements."""
    return definitions(parse_script(TABLES), {})


@pytest.mark.parametrize(("script", "plan"), statements())
def test_plan_is_flinks(script: str, plan: str) -> None:
    *before, job = parse_script(script).statements
    session = copied(tables())
    for statement in before:
        session.apply(statement)
    assert isinstance(job, (ast.Insert, ast.StatementSet))
    assert described(session.compile(job)) == plan

"""Statements and the descriptions of the nodes of Flink 2.3's plans, in ``flink_plans`` beside this file.

A statement, with the settings and views it needs, stands before its plan: each node's number and inputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from flinkplan.plan.document import Plan
from flinkplan.planner import compile_script

FOLDER = Path(__file__).parent / "flink_plans"
TABLES = (FOLDER / "tables.sql").read_text("utf-8")


def statements() -> Iterator[ParameterSet]:
    for file in sorted(FOLDER.glob("*.txt")):
        blocks = file.read_text("utf-8").strip("\n").split("\n\n")
        for number, (script, plan) in enumerate(zip(blocks[::2], blocks[1::2], strict=True), 1):
            yield pytest.param(script, plan, id=f"{file.stem}-{number}")


def described(plan: Plan) -> str:
    """Each node's number, inputs and description, correlation variables numbered by their first use."""
    inputs = {node.id: [edge.source for edge in plan.edges if edge.target == node.id] for node in plan.nodes}
    lines = (
        f"  {node.id}{' <- ' * bool(inputs[node.id])}{','.join(map(str, inputs[node.id]))}: {node.description}"
        for node in plan.nodes
    )
    numbers: dict[str, str] = {}
    return re.sub(r"\$cor\d+", lambda m: numbers.setdefault(m[0], f"$cor{len(numbers)}"), "\n".join(lines))


@pytest.mark.parametrize(("script", "plan"), statements())
def test_plan_is_flinks(script: str, plan: str) -> None:
    assert described(compile_script(TABLES + script)) == plan

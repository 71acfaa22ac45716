"""Programs of the Table API become the operators that Flink gives them, and as Flink prints them."""

from __future__ import annotations

from pathlib import Path

import pytest

from flinkplan.table import EnvironmentSettings, TableEnvironment

from .flink_programs import EXPRESSIONS, TABLES, define

ANSWERS = (Path(__file__).parent / "golden/flink_trees.txt").read_text("utf-8").split("===== ")[1:]
TREES = {name: tree.rstrip() for name, _, tree in (answer.partition("\n") for answer in ANSWERS)}


@pytest.fixture(scope="module")
def te() -> TableEnvironment:
    environment = TableEnvironment(EnvironmentSettings({"table.local-time-zone": "UTC"}), warn=lambda finding: None)
    define(environment)
    return environment


@pytest.mark.parametrize("name", TREES)
def test_operators(te: TableEnvironment, name: str) -> None:
    table = TABLES[name](te) if name in TABLES else te.from_path("b").select(*EXPRESSIONS[name]())
    assert table.explain().partition("== Optimized Execution Plan ==\n")[2].rstrip() == TREES[name]


def test_every_program_has_an_answer() -> None:
    assert {*EXPRESSIONS, *TABLES} == {*TREES}

"""Programs of the Table API are explained as Flink explains them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flinkplan.table import EnvironmentSettings, TableEnvironment

from .flink_programs import EXPRESSIONS, TABLES, define

ANSWERS = (Path(__file__).parent / "golden/flink_explains.txt").read_text("utf-8").split("===== ")[1:]
TREES = {name: tree.rstrip() for name, _, tree in (answer.partition("\n") for answer in ANSWERS)}


@pytest.fixture(scope="module")
def te() -> TableEnvironment:
    environment = TableEnvironment(EnvironmentSettings({"table.local-time-zone": "UTC"}), warn=lambda finding: None)
    define(environment)
    return environment


@pytest.mark.parametrize("name", TREES)
def test_explain(te: TableEnvironment, name: str) -> None:
    table = TABLES[name](te) if name in TABLES else te.from_path("b").select(*EXPRESSIONS[name]())
    assert numbered(table.explain().rstrip()) == numbered(TREES[name])


def numbered(text: str) -> str:
    """Without the numbers of correlation variables, which count all programs of a session."""
    return re.sub(r"\$cor\d+", "$cor", text)


def test_every_program_has_an_answer() -> None:
    assert {*EXPRESSIONS, *TABLES} == {*TREES}

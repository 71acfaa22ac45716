"""Statements in SQL are explained as Flink 2.3 explains them, with estimated costs and changelog modes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from flinkplan import EnvironmentSettings, TableEnvironment

ANSWERS = (Path(__file__).parent / "golden/flink_statement_explains.txt").read_text("utf-8")
"""Scripts, each statement behind ``> ``, and what EXPLAIN shows."""


def scripts() -> Iterator[object]:
    for script in ANSWERS.split("##### ")[1:]:
        name, _, statements = script.partition("\n> ")
        yield pytest.param(statements.split("\n> "), id=name)


@pytest.mark.parametrize("statements", scripts())
def test_explain(statements: list[str]) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for text in statements:
        statement, _, expected = text.partition("\n")
        rows = [tuple(row) for row in environment.execute_sql(statement).collect()]
        if statement.startswith("EXPLAIN"):
            assert (statement, *map(_unnumbered, *rows)) == (statement, _unnumbered(expected))


def _unnumbered(text: str) -> str:
    """Without the numbers of correlation variables, which count all statements of a session."""
    return re.sub(r"\$cor\d+", "$cor", text.rstrip())

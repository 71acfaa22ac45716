"""Statements about catalogs answer as Flink 2.3 does: rows, or the class and the message of an exception.

``flink_answers.json`` has what two sessions of real Flink answered to these statements, one after the other.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.sql_gateway.client import Client, StatementError

ANSWERS = Path(__file__).parent / "flink_answers.json"
OTHER_MESSAGES = "ParseException"
"""Of these exceptions only the class and the place are compared: Flink lists what its grammar expects."""


def answer(client: Client, statement: str) -> Any:
    """The rows of a statement, or its error."""
    try:
        return client.rows(statement, "JSON")
    except StatementError as e:
        text = e.message.split("\n")[0] if e.java_class.endswith(OTHER_MESSAGES) else e.message
        return f"{e.java_class}: {text}"


@pytest.mark.parametrize("session", [0, 1])
def test_statements_answer_as_flink_does(client: Client, session: int) -> None:
    expected = json.loads(ANSWERS.read_text("utf-8"))[session]
    answers = [[statement, answer(client, statement)] for statement, _ in expected]
    assert answers == expected

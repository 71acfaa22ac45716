"""Completion by what stands before and by the catalog."""

from __future__ import annotations

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from flinkplan.cli.shell.completion import SqlCompleter
from flinkplan.table import EnvironmentSettings, TableEnvironment


@pytest.fixture(scope="module")
def completer() -> SqlCompleter:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.execute_sql("CREATE TABLE orders (id INT, amount INT, `a b` INT) WITH ('connector' = 'datagen')")
    env.execute_sql("CREATE TABLE rates (currency STRING, rate INT) WITH ('connector' = 'datagen')")
    env.execute_sql("CREATE VIEW recent AS SELECT id AS order_id FROM orders")
    return SqlCompleter(lambda: env.catalog)


def completed(completer: SqlCompleter, text: str) -> list[str]:
    """What is proposed at the mark ``|``, or at the end."""
    before, _, after = text.partition("|")
    document = Document(before + after, len(before))
    return [c.text for c in completer.get_completions(document, CompleteEvent())]


@pytest.mark.parametrize(
    ("text", "proposed"),
    [
        ("SELECT * FROM ", ["orders", "rates", "recent"]),
        ("SELECT * FROM r", ["rates", "recent"]),
        ("INSERT INTO or", ["orders"]),
        ("DESCRIBE rec", ["recent"]),
        ("SELECT o.| FROM orders AS o JOIN rates r ON TRUE", ["id", "amount", "`a b`"]),
        ("SELECT r.| FROM orders o JOIN rates r ON TRUE", ["currency", "rate"]),
        ("SELECT recent.o| FROM recent", ["order_id"]),
        ("selec", ["select"]),
        ("SELECT 1; SHO", ["SHOW"]),
        ("EXI", []),
        ("SET 'sql-client.execution.r", ["sql-client.execution.result-mode"]),
        ("SET 'a' = '", []),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'filesy", ["filesystem"]),
        ("CREATE TABLE t (a INT) WITH ('format' = 'debezium-j", ["debezium-json"]),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'rows", ["rows-per-second"]),
    ],
)
def test_proposals(completer: SqlCompleter, text: str, proposed: list[str]) -> None:
    assert completed(completer, text) == proposed


def test_columns_come_before_functions_and_keywords(completer: SqlCompleter) -> None:
    assert completed(completer, "SELECT curr| FROM rates")[0] == "currency"


def test_functions_and_keywords_in_small_letters_where_one_types_so(completer: SqlCompleter) -> None:
    assert "coalesce" in completed(completer, "select coa")
    assert "COALESCE" in completed(completer, "select COA")


def test_nothing_is_proposed_before_anything_is_typed(completer: SqlCompleter) -> None:
    assert completed(completer, "SELECT id ") == []

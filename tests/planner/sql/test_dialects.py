"""Words of other dialects."""

from __future__ import annotations

import re

import pytest

from flinkplan.plan.functions import find_function
from flinkplan.planner.sql import SqlSyntaxError, parse_script
from flinkplan.planner.sql.dialects import CLAUSES, FUNCTIONS, OPERATORS
from flinkplan.planner.sql.keywords import RESERVED

SYNTAX = {
    *("ARRAY", "AS", "CAST", "CONVERT_TZ", "COUNT", "DECIMAL", "DESCRIPTOR", "EXTRACT", "FILTER", "FLOOR", "IN"),
    *("INTERVAL", "NULLIF", "OVER", "POSITION", "ROW", "TABLE", "TIMESTAMPADD", "TIMESTAMPDIFF", "TRY_CAST"),
    *("TUMBLE", "UNNEST"),
}
"""Words before a parenthesis that are no functions of the table of functions."""


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_of_another_dialect_is_none_of_flink(name: str) -> None:
    assert find_function(name) is None


@pytest.mark.parametrize("text", sorted({*FUNCTIONS.values(), *OPERATORS.values(), *CLAUSES.values()}))
def test_what_is_advised_is_there(text: str) -> None:
    called = set(re.findall(r"\b([A-Z][A-Z_0-9]+)\(", text))
    assert [name for name in called if find_function(name) is None and name not in SYNTAX] == []


@pytest.mark.parametrize("operator", [o for o in OPERATORS if o not in ("::",)])
def test_an_operator_of_another_dialect_is_named(operator: str) -> None:
    with pytest.raises(SqlSyntaxError) as caught:
        parse_script(f"SELECT a {operator} b FROM t")
    assert str(caught.value.hint).startswith(f"there is no {operator};")


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name in RESERVED])
def test_a_reserved_word_is_taken_for_a_function(name: str) -> None:
    try:
        parse_script(f"SELECT {name}(a) FROM t")
    except SqlSyntaxError as error:
        assert str(error.hint).startswith(f"there is no {name};")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("SELECT DISTINCT ON (a) a, b FROM t", "there is no DISTINCT ON;"),
        ("SELECT a FROM t LATERAL VIEW EXPLODE(b) u AS x", "there is no LATERAL VIEW;"),
        ("SELECT DATEADD(DAY, 1, a) FROM t", "there is no DATEADD;"),
    ],
)
def test_phrases_and_calls_with_arguments_of_another_dialect(text: str, hint: str) -> None:
    with pytest.raises(SqlSyntaxError) as caught:
        parse_script(text)
    assert str(caught.value.hint).startswith(hint)


def test_operators_are_told_from_those_that_they_begin_with() -> None:
    names = list(OPERATORS)
    assert not [(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if b.startswith(a)]


def test_a_byte_order_mark_is_skipped() -> None:
    script = parse_script("\ufeffSET 'a' = 'b';")
    assert script.statements[0].span.column == 1

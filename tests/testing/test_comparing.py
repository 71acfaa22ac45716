"""Values and rows of a job compared with those that a test expects, and the tests that are updated."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.types.parser import parse_type
from flinkplan.planner.spec.reader import read
from flinkplan.planner.sql.source import Source
from flinkplan.testing.comparing import Difference, Result, compare
from flinkplan.testing.loading import load_tests
from flinkplan.testing.model import Suite
from flinkplan.testing.reporting import failure_text, junit
from flinkplan.testing.running import Outcome
from flinkplan.testing.updating import updated
from flinkplan.testing.values import ValueFault, is_equal, json_value, shown

HEAD = "version: 1\npipeline: p.sql\ntests:\n"


def of_file(text: str) -> Any:
    """A value as a file of rows has it, without its place."""
    document = read(Source(f"[{text}]")).data
    assert isinstance(document, list)
    return document[0]


@pytest.mark.parametrize(
    ("text", "type_", "json"),
    [
        ("1", "INT", 1),
        ("'1'", "BIGINT", 1),
        ("1", "VARCHAR(2147483647)", "1"),
        ("null", "INT", None),
        ("1.10", "DECIMAL(10, 2)", "1.10"),
        ("0.5", "DOUBLE", 0.5),
        ("NaN", "DOUBLE", "NaN"),
        ("Infinity", "DOUBLE", "Infinity"),
        ("true", "BOOLEAN", True),
        ("x'00ff'", "VARBINARY(2147483647)", "AP8="),
        ("2024-01-31 12:00:00.5", "TIMESTAMP(3)", "2024-01-31 12:00:00.500000"),
        ("2024-01-31T12:00:00", "TIMESTAMP(3)", "2024-01-31 12:00:00"),
        ("2024-01-31 12:00:00+02:00", "TIMESTAMP(3) WITH LOCAL TIME ZONE", "2024-01-31 10:00:00Z"),
        ("2024-01-31", "DATE", "2024-01-31"),
        ("12:30:00", "TIME(0)", "12:30:00"),
        ("[1, null]", "ARRAY<INT>", [1, None]),
        ("{a: 1}", "MAP<VARCHAR(2147483647), INT>", {"a": 1}),
        ("{b: x}", "ROW<`a` INT, `b` VARCHAR(2147483647)>", {"a": None, "b": "x"}),
        ("[1, x]", "ROW<`a` INT, `b` VARCHAR(2147483647)>", {"a": 1, "b": "x"}),
    ],
)
def test_values_as_json(text: str, type_: str, json: Any) -> None:
    assert json_value(read(Source(text)), parse_type(type_)) == json


@pytest.mark.parametrize(
    ("text", "type_", "words"),
    [
        ("x", "INT", "not a whole number"),
        ("1.5", "INT", "not a whole number"),
        ("x", "DECIMAL(10, 2)", "not a number"),
        ("maybe", "BOOLEAN", "not true or false"),
        ("2024-13-01", "TIMESTAMP(3)", "not a time"),
        ("2024-01-31 12:00:00", "TIMESTAMP(3) WITH LOCAL TIME ZONE", "needs a time zone"),
        ("1", "ARRAY<INT>", "written as a list"),
        ("{c: 1}", "ROW<`a` INT>", "no field 'c'"),
        ("[1]", "INT", "this is a list"),
    ],
)
def test_values_that_a_type_does_not_have(text: str, type_: str, words: str) -> None:
    with pytest.raises(ValueFault, match=words):
        json_value(read(Source(text)), parse_type(type_))


@pytest.mark.parametrize(
    ("text", "actual", "is_same"),
    [
        ("1", 1, True),
        ("1.0", 1, True),
        ("'1'", "1", True),
        ("1", "1", True),
        ("null", None, True),
        ("null", "", False),
        ("''", "", True),
        ("0.3", 0.1 + 0.2, False),
        ("1.50", Decimal("1.5"), True),
        ("1.51", Decimal("1.5"), False),
        ("true", True, True),
        ("2024-01-31T12:00", datetime(2024, 1, 31, 12), True),
        ("2024-01-31 12:00:00Z", datetime(2024, 1, 31, 12, tzinfo=UTC), True),
        ("2024-01-31 14:00:00+02:00", datetime(2024, 1, 31, 12, tzinfo=UTC), True),
        ("2024-01-31 12:00:01", datetime(2024, 1, 31, 12), False),
        ("2024-01-31", date(2024, 1, 31), True),
        ("12:30:00", time(12, 30), True),
        ("x'00FF'", b"\x00\xff", True),
        ("[1, null]", [1, None], True),
        ("[1]", [1, 2], False),
        ("{a: 1}", {"a": 1}, True),
        ("{a: 1}", {"b": 1}, False),
        ("{a: 1, b: x}", (1, "x"), True),
        ("[1, x]", (1, "x"), True),
    ],
)
def test_values_compared(text: str, actual: Any, is_same: bool) -> None:
    assert is_equal(read(Source(text)), actual, 0.0) is is_same
    assert is_equal(of_file(text), actual, 0.0) is is_same


def test_a_tolerance() -> None:
    assert is_equal(read(Source("0.3")), 0.1 + 0.2, 1e-9)
    assert not is_equal(read(Source("0.4")), 0.1 + 0.2, 1e-9)


@pytest.mark.parametrize("value", [None, True, 3, "x", b"\x01", [1, {"a": "b"}], "with: colon", "2024", "null", "- x"])
def test_what_is_shown_is_equal_again(value: Any) -> None:
    from flinkplan.testing.updating import _value

    assert is_equal(of_file(_value(shown(value))), value, 0.0)


def suite_of(folder: Path, expect: str) -> Suite:
    file = folder / "p.test.yaml"
    file.write_text(f"{HEAD}  - name: a\n    expect:\n      s:{expect}\n")
    return load_tests(file)


def difference(folder: Path, expect: str, result: Result) -> Difference | None:
    return compare(suite_of(folder, expect).cases[0].steps[0].expected[0], result)


ROWS = Result(("k", "v"), ((0, ("a", 1)), (0, ("b", 2)), (1, ("a", 1)), (2, ("a", 4))), late=1)
"""a is updated from 1 to 4."""


def test_numbers_by_operator(tmp_path: Path) -> None:
    result = Result(("k",), (), dropped={"join": 2, "rank": 0}, state={"join": 3, "rank": 1})
    assert difference(tmp_path, "\n        dropped: 2\n        state: {join: 3, rank: 1}", result) is None
    found = difference(tmp_path, "\n        dropped: {join: 1}\n        state: empty", result)
    assert found is not None
    assert found.summary == "s: 2 rows dropped in join instead of 1, 4 entries of state instead of 0"
    with pytest.raises(FlinkplanError, match="no operator 'jion' that keeps state"):
        difference(tmp_path, "\n        state: {jion: 1}", result)


@pytest.mark.parametrize(
    "expect",
    [
        " [{k: b, v: 2}, {k: a, v: 4}]",
        "\n        rows: [{k: b, v: 2}, {k: a, v: 4}]\n        ordered: true\n        late: 1",
        "\n        columns: [k]\n        rows: [{k: a}, {k: b}]",
        "\n        changelog: [{k: a, v: 1}, {k: b, v: 2}, {-U: {k: a, v: 1}}, {+U: {k: a, v: 4}}]",
        "\n        ordered: false\n"
        "        changelog: [{k: b, v: 2}, {k: a, v: 1}, {-U: {k: a, v: 1}}, {+U: {k: a, v: 4}}]",
        "\n        late: 1",
    ],
)
def test_rows_as_expected(tmp_path: Path, expect: str) -> None:
    assert difference(tmp_path, expect, ROWS) is None


def test_rows_by_key() -> None:
    upserts = Result(("k", "v"), ((0, ("a", 1)), (2, ("a", 2)), (0, ("b", 3)), (3, ("b", None))), key=(0,))
    assert upserts.final_rows() == [("a", 2)]


@pytest.mark.parametrize(
    ("expect", "summary", "table"),
    [
        (
            " [{k: a, v: 5}, {k: b, v: 2}]",
            "s: 1 row missing, 1 row unexpected",
            "   k  v\n-  a  5\n   b  2\n+  a  4",
        ),
        (
            "\n        rows: [{k: a, v: 4}, {k: b, v: 2}]\n        ordered: true",
            "s: 1 row missing, 1 row unexpected",
            "   k  v\n-  a  4\n   b  2\n+  a  4",
        ),
        (
            "\n        changelog: [{k: a, v: 1}, {k: b, v: 2}, {+U: {k: a, v: 4}}]",
            "s: 1 row unexpected",
            "   op  k  v\n   +I  a  1\n   +I  b  2\n+  -U  a  1\n   +U  a  4",
        ),
        ("\n        late: 0", "s: 1 late row instead of 0", ""),
        (" []", "s: 2 rows unexpected", "   k  v\n+  b  2\n+  a  4"),
    ],
)
def test_differences(tmp_path: Path, expect: str, summary: str, table: str) -> None:
    found = difference(tmp_path, expect, ROWS)
    assert found is not None
    assert (found.summary, found.table()) == (summary, table)


@pytest.mark.parametrize(
    ("expect", "place", "words"),
    [
        (" [{k: a, w: 1}]", "6:11", "'s' has no column 'w'"),
        (" [{k: a}]", "6:11", "this row of 's' has no 'v'"),
        ("\n        columns: [kk]\n        rows: []", "6:7", "did you mean 'k'?"),
        (" [1]", "6:11", "this is not a row of 's'"),
    ],
)
def test_expectations_that_do_not_fit(tmp_path: Path, expect: str, place: str, words: str) -> None:
    with pytest.raises(FlinkplanError) as raised:
        difference(tmp_path, expect, ROWS)
    assert f"p.test.yaml:{place}" in str(raised.value)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    "expect",
    [
        " []",
        "\n        - {k: x, v: 1}   # comment\n        - {k: y, v: 1}",
        "\n        rows: [{k: x, v: 1}]\n        ordered: true",
        "\n        columns: [v]\n        rows:\n          - {v: 1}\n          - v: 3",
        "\n        changelog:\n          - {k: x, v: 1}",
    ],
)
def test_an_update_makes_a_test_pass(tmp_path: Path, expect: str) -> None:
    suite = suite_of(tmp_path, expect)
    found = compare(suite.cases[0].steps[0].expected[0], ROWS)
    assert found is not None
    suite.file.write_text(updated(suite, [found]))
    again = load_tests(suite.file)
    assert compare(again.cases[0].steps[0].expected[0], ROWS) is None
    assert again.text.endswith("\n")


def test_reports(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, " []")
    found = difference(tmp_path, " []", ROWS)
    assert found is not None
    error = FlinkplanError("it <failed>", where="there", hint="help")
    outcomes = [Outcome(suite.cases[0], (found,)), Outcome(suite.cases[0]), Outcome(suite.cases[0], error=error)]
    assert failure_text(outcomes[0]).split("\n")[:3] == [
        "s: 2 rows unexpected",
        f" --> {suite.file}:6:7",
        "   k  v",
    ]
    assert failure_text(outcomes[2]) == "error: it <failed>\n --> there\nhint: help"
    [xml] = ElementTree.fromstring(junit([(suite, outcomes)]))
    assert (xml.get("tests"), xml.get("failures"), xml.get("errors")) == ("3", "1", "1")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.csv", "k,v\na,1\nb,2\n"),
        ("r.json", '[{"k": "a", "v": 1}, {"k": "b", "v": 2}]'),
        ("r.jsonl", '{"k": "a", "v": 1}\n{"k": "b", "v": 2}\n'),
    ],
)
def test_expected_rows_in_files(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    result = Result(("k", "v"), ((0, ("b", 2)), (0, ("a", 1))))
    assert difference(tmp_path, f" {{file: {name}}}", result) is None
    assert difference(tmp_path, f" {{file: {name}}}", ROWS) is not None


def test_expected_rows_in_parquet(tmp_path: Path) -> None:
    from pyarrow import parquet, table

    parquet.write_table(table({"k": ["a"], "v": [datetime(2024, 1, 1)]}), tmp_path / "r.parquet")
    assert difference(tmp_path, " {file: r.parquet}", Result(("k", "v"), ((0, ("a", datetime(2024, 1, 1))),))) is None


@pytest.mark.parametrize(("name", "text"), [("r.txt", ""), ("r.json", "{"), ("r.json", "[1]"), ("r.parquet", "x")])
def test_files_that_are_none(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(FlinkplanError, match=name):
        difference(tmp_path, f" {{file: {name}}}", ROWS)

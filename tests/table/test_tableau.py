"""Tables of text, as Flink 2.3 printed the same rows."""

from __future__ import annotations

from collections.abc import Iterator

from flinkplan.plan.text.tableau import changes
from flinkplan.plan.types.parser import parse_type
from flinkplan.table import Row, RowKind


def printed(columns: dict[str, str], *rows: tuple[str | None, ...], kind: RowKind = RowKind.INSERT) -> str:
    types = [(name, parse_type(t)) for name, t in columns.items()]
    return "\n".join(changes(types, (Row.of_kind(kind, *row) for row in rows)))


def test_widths_go_by_the_types() -> None:
    columns = {
        "a": "TINYINT NOT NULL",
        "c": "INT",
        "d": "BIGINT",
        "e": "DECIMAL(10, 2)",
        "h": "BOOLEAN",
        "i": "CHAR(1)",
        "day": "DATE",
        "t": "TIMESTAMP(0)",
        "u": "TIMESTAMP(6)",
        "v": "TIMESTAMP(3) WITH LOCAL TIME ZONE",
    }
    moments = ("2020-01-02", "2020-01-01 00:00:00", "2020-01-01 00:00:00.123456", "2020-01-01 00:00:00.000")
    head, names, _, row, *_ = printed(columns, ("1", "3", None, "1.50", "TRUE", "x", *moments)).splitlines()
    assert head == (
        "+----+--------+-------------+----------------------+--------------+--------+--------------------------------+"
        "------------+---------------------+----------------------------+-------------------------+"
    )
    assert names == (
        "| op |      a |           c |                    d |            e |      h |                              i |"
        "        day |                   t |                          u |                       v |"
    )
    assert row == (
        "| +I |      1 |           3 |               <NULL> |         1.50 |   TRUE |                              x |"
        " 2020-01-02 | 2020-01-01 00:00:00 | 2020-01-01 00:00:00.123456 | 2020-01-01 00:00:00.000 |"
    )


def test_long_texts_are_cut_and_wide_ones_take_two_places() -> None:
    text = printed(
        {"s": "VARCHAR(2147483647)", "w": "VARCHAR(2147483647)"},
        ("a very long text that is beyond thirty characters surely", "日本語テキスト"),
    )
    assert text.splitlines()[3] == "| +I | a very long text that is be... |                 日本語テキスト |"


def test_a_long_name_widens_its_column() -> None:
    name = "a_column_with_a_very_long_name_that_is_beyond_thirty_chars"
    lines = printed({name: "INT"}, ("1",)).splitlines()
    assert lines[1] == f"| op | {name} |"
    assert lines[3] == f"| +I | {'1':>58} |"


def test_nothing_is_an_empty_set() -> None:
    assert printed({"v": "INT"}) == "Empty set"


def test_rows_are_counted() -> None:
    assert printed({"v": "INT"}, ("1",)).endswith("\n1 row in set")
    assert printed({"v": "INT"}, ("1",), ("2",), kind=RowKind.DELETE).endswith("\n2 rows in set")


def test_lines_come_as_rows_do() -> None:
    def rows() -> Iterator[Row]:
        yield Row.of_kind(RowKind.UPDATE_AFTER, "1")
        raise AssertionError("asked for more")

    lines = changes([("v", parse_type("INT"))], rows())
    assert [next(lines) for _ in range(4)][3] == "| +U |           1 |"


def test_the_width_of_texts_can_be_set() -> None:
    columns = [("name", parse_type("VARCHAR(2147483647)")), ("dob", parse_type("DATE"))]
    rows = [Row("30b5c1bb-0ac0-43d3", "2001-01-13")]
    assert [*changes(columns, rows, 10)][3] == "| +I | 30b5c1b... | 2001-01-13 |"
    assert [*changes(columns, rows, 20)][3] == "| +I |   30b5c1bb-0ac0-43d3 | 2001-01-13 |"

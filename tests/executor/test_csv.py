"""CSV as Flink reads it: what is found here is what Flink 2.3 wrote of the same bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from flinkplan.executor.errors import ExecutionError

from .jobs import Place, counts_by_minute
from .plans import Fields, passthrough

pytestmark = pytest.mark.spark

TEXTS: Fields = (("a", "STRING"), ("b", "STRING"))
LISTS: Fields = (("a", "ARRAY<STRING>"), ("b", "STRING"))
ROWS: Fields = (("a", "ROW<`f` INT, `g` STRING>"), ("b", "STRING"))


def read(place: Place, content: bytes, fields: Fields, options: Mapping[str, str]) -> list[list[Any]]:
    """The values of the rows of a file."""
    (place.root / "in" / "1").write_bytes(content)
    source = place.files("in", "csv") | {f"csv.{key}": value for key, value in options.items()}
    place.run(passthrough(source, place.files("out"), fields))
    return [list(json.loads(line).values()) for file in place.output() for line in file.read_text().split("\n") if line]


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        pytest.param(b"1,a\r2,b\n3,c\r\n4,d", [["1", "a"], ["2", "b"], ["3", "c"], ["4", "d"]], id="line ends"),
        pytest.param(
            b'"a\rb",1\n"c\r\nd",2\r\n"e\nf",3\n',
            [["a\rb", "1"], ["c\r\nd", "2"], ["e\nf", "3"]],
            id="quoted line ends",
        ),
        pytest.param(b'"a" ,"b" \r"c", "d"\r', [["a", "b"], ["c", ' "d"']], id="spaces around quotes"),
        pytest.param(b"1,a,\r2,b,\r", [["1", "a"], ["2", "b"]], id="trailing commas"),
        pytest.param(b"x,y\n\xef\xbb\xbfa,b\n", [["x", "y"], ["\ufeffa", "b"]], id="no byte order mark"),
        pytest.param(b'\xef\xbb\xbf"a\n",b', [["a\n", "b"]], id="byte order mark"),
        pytest.param("é,😀\r\n".encode(), [["é", "😀"]], id="several bytes"),
        pytest.param(b"a\xc1\x81,\xe0\x81\x81\xc0\x80\n", [["aA", "A\0"]], id="more bytes than needed"),
        pytest.param(
            b"\xed\xa0\x80b,\xed\xb0\x80\n\xed\xa0\xbd\xed\xb8\x80,\xf0\x80\x81\x81\n",
            [["\ud800b", "\udc00"], ["😀", "\ud7c0\udc41"]],
            id="halves of pairs",
        ),
        pytest.param(b"c,d\n\0a,b\n", [["c", "d"], ["\0a", "b"]], id="zero"),
        pytest.param(b"\0,", [["", ""]], id="two bytes"),
        pytest.param(
            b"".join(b"%05d,%s\r\n" % (i, b"x" * 33) for i in range(4000)),
            [[f"{i:05}", "x" * 33] for i in range(4000)],
            id="more than a buffer",
        ),
    ],
)
def test_lines_and_characters(place: Place, content: bytes, rows: list[list[str]]) -> None:
    assert read(place, content, TEXTS, {}) == rows


def test_unicode_in_more_bytes(place: Place) -> None:
    files = [
        f"{mark}a{encoding}{mark != ''},é\r\nb,2\n".encode(encoding)
        for encoding in ("utf-16-be", "utf-16-le", "utf-32-be", "utf-32-le")
        for mark in ("", "\ufeff")
    ]
    for i, content in enumerate(files):
        (place.root / "in" / f"file-{i}").write_bytes(content)
    rows = read(place, b"", TEXTS, {})
    expected = [[f"autf-{kind}{mark}", "é"] for kind in ("16-be", "16-le", "32-be", "32-le") for mark in (False, True)]
    assert sorted(rows) == sorted([*expected, *8 * [["b", "2"]]])


@pytest.mark.parametrize(
    ("content", "message", "line"),
    [
        (b"\0\0\xff\xfea,b\n", "Unsupported UCS-4 endianness (2143) detected", 1),
        (b"\0\0\0,b\n", "this is no character of UTF-32", 1),
        ("\ufeffa,é\nb,2\nc\n".encode("utf-16-be"), "Row length mismatch", 3),
        (b"\xef\xbb\xbfa,b\nc\nd,e\n", "Row length mismatch", 2),
    ],
)
def test_what_cannot_be_read_of_other_encodings(place: Place, content: bytes, message: str, line: int) -> None:
    with pytest.raises(ExecutionError) as failed:
        read(place, content, TEXTS, {})
    assert failed.value.where == f"{place.root}/in/1:{line}"
    assert message in failed.value.message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\xed\xa0\x80b,1\n", "Broken surrogate pair: first char 0xd800, second 0x62; illegal combination"),
        (b"\xed\xb8\x80,1\n", "Unmatched second part of surrogate pair (0xde00)"),
    ],
)
def test_halves_of_pairs_are_not_written(place: Place, content: bytes, message: str) -> None:
    (place.root / "in" / "1").write_bytes(content)
    with pytest.raises(ExecutionError, match=re.escape(message)):
        place.run(passthrough(place.files("in", "csv"), place.files("out", "csv"), TEXTS))
    assert place.output() == []


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_a_file_is_read_in_pieces_that_cut_no_record(place: Place, mark: bytes, end: bytes) -> None:
    texts = ["x" * 9, "a\nb,c", 'd"e\r\n"', "", "\r\n" * 5, "é"]
    quoted = [f'"{text.replace(chr(34), 2 * chr(34))}"'.encode() for text in texts]
    content = mark + b"".join(b"%d,%s%s" % (i, quoted[i % len(texts)], end) for i in range(600))
    place.spark.conf.set("spark.sql.files.minPartitionNum", "8")
    try:
        rows = read(place, content, TEXTS, {})
    finally:
        place.spark.conf.unset("spark.sql.files.minPartitionNum")
    assert sorted(rows, key=lambda row: int(row[0])) == [[str(i), texts[i % len(texts)]] for i in range(600)]


def test_what_is_late_does_not_go_by_how_many_tasks_read(place: Place) -> None:
    lines = [f"2024-01-01 {hour}:00:00,a" for hour in ("01", "05", "02", "03", "04", "06", "01")]
    (place.root / "in" / "1").write_text("\n".join(lines))
    place.spark.conf.set("spark.sql.files.minPartitionNum", "7")
    try:
        place.run(counts_by_minute(place, "csv"))
    finally:
        place.spark.conf.unset("spark.sql.files.minPartitionNum")
    assert [row["start"][11:13] for row in place.rows()] == ["01", "05", "06"]


EVERYDAY: Fields = (("a", "INT"), ("b", "BIGINT"), ("c", "DECIMAL(8, 2)"), ("d", "DATE"), ("e", "STRING"))


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ('7,-8,1.25,2024-02-29,"a,b"', [7, -8, 1.25, "2024-02-29", "a,b"]),
        ("-0,007,-0.5,0000-01-01, x ", [0, 7, -0.5, "0000-01-01", " x "]),
        (" 7 ,+8,1.,2024-12-31,", [7, 8, 1, "2024-12-31", ""]),
        ("2147483647,-9223372036854775808,.5,1969-12-31,y", [2147483647, -(2**63), 0.5, "1969-12-31", "y"]),
        ('"1","2","3","2024-01-01","4"', [1, 2, 3, "2024-01-01", "4"]),
        ("1,2,999999.99,2024-01-31,x", [1, 2, 999999.99, "2024-01-31", "x"]),
        ("1,2,9999999.5,2024-01-31,x", [1, 2, None, "2024-01-31", "x"]),
        ("1,2,-2.345,2024-01-31,x", [1, 2, -2.35, "2024-01-31", "x"]),
        ("1,2,1e3,2024-01-31,x", [1, 2, 1000, "2024-01-31", "x"]),
        ("NA,NA,NA,NA,NAN", [None, None, None, None, "NAN"]),
    ],
)
@pytest.mark.parametrize("escape", [{}, {"escape-character": "\\"}], ids=["where they stand", "as texts"])
def test_everyday_fields(place: Place, line: str, row: list[Any], escape: dict[str, str]) -> None:
    assert read(place, line.encode(), EVERYDAY, {"null-literal": "NA", **escape}) == [row]


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("x,1,1,2024-01-01,a", "x"),
        ("2147483648,1,1,2024-01-01,a", "2147483648"),
        ("1,-,1,2024-01-01,a", "-"),
        ("1,1,.,2024-01-01,a", "Failed to deserialize"),
        ("1,1, 1.5,2024-01-01,a", "Failed to deserialize"),
        ("1,1,1.5 ,2024-01-01,a", "Failed to deserialize"),
        ("1,1,1,2023-02-29,a", "2023-02-29"),
        ("1,1,1,2024-1-1,a", "2024-1-1"),
        ("1,1,1,2024-00-10,a", "2024-00-10"),
        ("1,1,1,2024-01-01", "Row length mismatch"),
        ("1,1,1,2024-01-01,a,b", "Too many entries"),
        ('1,1,1,2024-01-01,"a"b', "Expected column separator"),
        ('1,1,1,2024-01-01,"a', "Missing closing quote"),
    ],
)
def test_fields_that_cannot_be_read(place: Place, line: str, wrong: str) -> None:
    with pytest.raises(ExecutionError, match=re.escape(wrong)):
        read(place, line.encode(), EVERYDAY, {})


def test_comments_end_with_their_line(place: Place) -> None:
    content = b'#x\r1,a\r #y,"z\r\n2,b\n'
    assert read(place, content, TEXTS, {"allow-comments": "true"}) == [["1", "a"], ["2", "b"]]


def test_escaped_line_ends(place: Place) -> None:
    content = b'a\\\rb,c\n"d\\"\ne",f\n'
    assert read(place, content, TEXTS, {"escape-character": "\\"}) == [["a\rb", "c"], ['d"\ne', "f"]]


@pytest.mark.parametrize(
    ("content", "fields", "null", "rows"),
    [
        (b"p;;q,x\n,y\n;,\n", LISTS, "", [[["p", None, "q"], "x"], [[], "y"], [[None, None], None]]),
        (b"1;2,x\nn/a,y\n,z\n", LISTS, "n/a", [[["1", "2"], "x"], [[None], "y"], [[], "z"]]),
        (b"1;2,x\n,y\n;2,\n", ROWS, "", [[{"f": 1, "g": "2"}, "x"], [None, "y"], [{"f": None, "g": "2"}, None]]),
        (b"1;2,x\n,y\n", ROWS, "n/a", [[{"f": 1, "g": "2"}, "x"], [None, "y"]]),
    ],
)
def test_what_stands_for_null_in_a_field_of_several_values(
    place: Place, content: bytes, fields: Fields, null: str, rows: list[Any]
) -> None:
    assert read(place, content, fields, {"null-literal": null}) == rows


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x,y\na\xffb,c\n", "Invalid UTF-8 start byte 0xff"),
        (b"x,y\na\xc3,c\n", "Invalid UTF-8 middle byte 0x2c"),
        (b"x,y\ra,c\xc3", "Unexpected end in the middle of a multi-byte UTF-8 character"),
    ],
)
@pytest.mark.parametrize("ignore", ["false", "true"])
def test_what_is_not_utf_8_fails_by_its_line(place: Place, content: bytes, message: str, ignore: str) -> None:
    with pytest.raises(ExecutionError) as failed:
        read(place, content, TEXTS, {"ignore-parse-errors": ignore})
    assert (failed.value.message, failed.value.where) == (message, f"{place.root}/in/1:2")


def test_a_row_that_does_not_fit_is_named_by_its_line_and_cut(place: Place) -> None:
    content = b'"a\nb",c\r\n' + b"d" * 100_000 + b",e,f\n"
    with pytest.raises(ExecutionError) as failed:
        read(place, content, TEXTS, {})
    assert failed.value.where == f"{place.root}/in/1:3"
    assert failed.value.message == (
        f"Failed to deserialize CSV row '{'d' * 200}… (100,004 bytes)'.: Too many entries: expected at most 2"
    )


def test_a_row_of_too_many_values_is_cut(place: Place) -> None:
    assert read(place, b"1;2;3,x\n", ROWS, {}) == [[{"f": 1, "g": "2"}, "x"]]


def test_a_row_of_too_few_values_is_filled_up_where_errors_are_ignored(place: Place) -> None:
    with pytest.raises(ExecutionError, match="2 fields expected but was 1"):
        read(place, b"1,x\n", ROWS, {})
    assert read(place, b"1,x\n", ROWS, {"ignore-parse-errors": "true"}) == [[{"f": 1, "g": None}, "x"]]

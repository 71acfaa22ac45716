"""Text to tokens."""

import pytest

from flinkplan.planner.sql.lexer import binary_value, identifier_name, string_value, tokenize
from flinkplan.planner.sql.source import Source, Span


def keys(text: str) -> list[str]:
    return [token.key for token in tokenize(Source(text))][:-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Select fooBar", ["SELECT", "FOOBAR"]),
        ("a1_$x", ["A1_$X"]),
        ("größe", ["GRÖSSE"]),
        ("`a ``b` c", ["quoted", "C"]),
        ("1 1.5 .5 1. 1.5E-3 2e5", ["number"] * 6),
        ("t1.5", ["T1", "number"]),
        ("'it''s' '' U&'\\00e9' N'x' _UTF16'x'", ["string"] * 5),
        ("X'0f' x'AB'", ["binary"] * 2),
        ("a<>b!=c<=d>=e||f=>g", ["A", "<>", "B", "!=", "C", "<=", "D", ">=", "E", "||", "F", "=>", "G"]),
        ("1-- x\n2 // y\n3 /* z\n -- */ 4", ["number"] * 4),
        ("/**/ /***/ a /* 'b */", ["A"]),
        ("/*+ A */", ["/*+", "A", "*/"]),
        ("a/b", ["A", "/", "B"]),
        ("'a -- b'", ["string"]),
        ("a # b", ["A", "bad", "B"]),
        ("a 'b c", ["A", "bad"]),
        ("a `b c", ["A", "bad"]),
        ("a /* b", ["A", "bad"]),
        ("", []),
        ("  -- only a comment", []),
    ],
)
def test_keys(text: str, expected: list[str]) -> None:
    assert keys(text) == expected


def test_tokens_cover_their_text() -> None:
    text = "SELECT  `a`, 'x''y' FROM t -- end\n;"
    source = Source(text)
    assert [text[t.start : t.end] for t in tokenize(source)] == ["SELECT", "`a`", ",", "'x''y'", "FROM", "t", ";", ""]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'it''s'", "it's"),
        ("''", ""),
        ("'a\nb'", "a\nb"),
        ("'\\n'", "\\n"),
        ("U&'\\00e9\\\\x'", "é\\x"),
        ("u&'a''\\65e5'", "a'日"),
        ("N'x'", "x"),
    ],
)
def test_string_values(text: str, value: str) -> None:
    assert string_value(text) == value


def test_other_values() -> None:
    assert string_value("U&'!00e9!!'", "!") == "é!"
    assert identifier_name("`a ``b`") == "a `b"
    assert binary_value("X'00fF'") == b"\x00\xff"
    with pytest.raises(ValueError, match="unicode escape"):
        string_value("U&'\\00g9'")
    with pytest.raises(ValueError, match="hexadecimal"):
        binary_value("X'0'")


def test_positions_count_from_one() -> None:
    source = Source("ab\n  cd\r\ne", "x.sql")
    span = Span(5, 7, source)
    assert (span.text, span.line, span.column) == ("cd", 2, 3)
    assert str(span.location) == "x.sql:2:3"
    assert span.location.end_column == 5
    assert source.line_text(2) == "  cd"
    assert source.position(10) == (3, 2)


def test_a_span_over_lines_ends_with_its_first_line() -> None:
    span = Span(1, 5, Source("abc\ndef"))
    assert (span.location.column, span.location.end_column) == (2, 4)

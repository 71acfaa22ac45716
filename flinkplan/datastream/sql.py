"""Texts that are SQL, and durations."""

from __future__ import annotations

from datetime import timedelta

from ..plan.durations import parse_duration
from ..planner.sql import ast
from ..planner.sql.lexer import END
from ..planner.sql.source import Source
from ..planner.sql.statements import StatementParser

Duration = timedelta | str | int
"""A timedelta, a text such as ``5 s``, or milliseconds; an offset may be negative."""


def millis(duration: Duration) -> int:
    """The milliseconds of a duration.  Raises :class:`DurationError` for a text that is none."""
    if isinstance(duration, timedelta):
        return duration // timedelta(milliseconds=1)
    if isinstance(duration, int):
        return duration
    text = duration.strip()
    sign = -1 if text.startswith("-") else 1
    return sign * parse_duration(text.removeprefix("-"))


def expression(text: str) -> ast.Expression:
    """An expression.  Raises an error with its place in the text where it is none."""
    parser = StatementParser(Source(text))
    found = parser.expression()
    if parser.token.kind != END:
        parser.fail("the end of the expression")
    return found


def order(text: str) -> ast.SortItem:
    """An item of ORDER BY, likewise."""
    parser = StatementParser(Source(text))
    found = parser.sort_item()
    if parser.token.kind != END:
        parser.fail("the end of the order")
    return found


def identifier(name: str) -> ast.Identifier:
    """A name as it stands."""
    return ast.Identifier(name, True)


def column(name: str) -> ast.ColumnRef:
    """A column by its name."""
    return ast.ColumnRef((identifier(name),))

"""SQL texts, durations, and the arguments of parts of a window, as nodes of the syntax tree."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from ..plan.durations import parse_duration
from ..planner.sql import ast
from ..planner.sql.ast import stream_windows as w
from ..planner.sql.lexer import END
from ..planner.sql.source import Source
from ..planner.sql.statements import StatementParser

Duration = timedelta | str | int
"""A timedelta, a text such as ``5 s``, or milliseconds; an offset may be negative."""


def millis(duration: Duration) -> int:
    """A duration in milliseconds.  Raises :class:`DurationError` for an invalid text."""
    if isinstance(duration, timedelta):
        return duration // timedelta(milliseconds=1)
    if isinstance(duration, int):
        return duration
    text = duration.strip()
    sign = -1 if text.startswith("-") else 1
    return sign * parse_duration(text.removeprefix("-"))


def expression(text: str) -> ast.Expression:
    """Parse an expression.  Raises an error with its place in an invalid text."""
    parser = StatementParser(Source(text))
    parsed = parser.expression()
    if parser.token.kind != END:
        parser.fail("the end of the expression")
    return parsed


def order(text: str) -> ast.SortItem:
    """Parse an item of ORDER BY.  Raises an error with its place in an invalid text."""
    parser = StatementParser(Source(text))
    item = parser.sort_item()
    if parser.token.kind != END:
        parser.fail("the end of the order")
    return item


def identifier(name: str) -> ast.Identifier:
    """An identifier whose name is used literally."""
    return ast.Identifier(name, True)


def column(name: str) -> ast.ColumnRef:
    """A reference to a column."""
    return ast.ColumnRef((identifier(name),))


def window_arguments(fields: Mapping[str, Any]) -> tuple[w.WindowArgument, ...]:
    """The fields of a declared assigner, trigger or evictor."""
    return tuple(w.WindowArgument(name, value) for name, value in fields.items())

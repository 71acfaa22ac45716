"""Flink SQL text to a syntax tree that knows where each part stands."""

from __future__ import annotations

from ...plan.interpreter import deep_recursion
from .ast import DataType, Script
from .errors import SqlSyntaxError, render
from .lexer import END
from .source import Source, Span, without_mark
from .statements import StatementParser

__all__ = ["Source", "Span", "SqlSyntaxError", "parse_data_type", "parse_script", "render"]


@deep_recursion
def parse_script(text: str, file: str | None = None) -> Script:
    """Parse statements between semicolons.

    Raises a :class:`SqlSyntaxError` (or the UnsupportedError for SQL of Flink that is left out), and an
    ErrorGroup of them when several statements are at fault.
    """
    return StatementParser(Source(without_mark(text), file)).script()


def parse_data_type(text: str) -> DataType:
    """Parse a data type; it may end with NOT NULL.  Raises a :class:`SqlSyntaxError` where it is none."""
    parser = StatementParser(Source(text))
    data_type = parser.data_type(nullability=True)
    if parser.token.kind != END:
        parser.fail("the end of the type")
    return data_type

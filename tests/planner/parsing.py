"""Parts of SQL by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from flinkplan.planner.sql import Source, ast
from flinkplan.planner.sql.lexer import END
from flinkplan.planner.sql.statements import StatementParser

T = TypeVar("T")


def parse_query(text: str) -> ast.Query:
    """A single query, without a semicolon."""
    return _parsed(text, StatementParser.query)


def parse_expression(text: str) -> ast.Expression:
    """A single expression."""
    return _parsed(text, StatementParser.expression)


def _parsed(text: str, parse: Callable[[StatementParser], T]) -> T:
    parser = StatementParser(Source(text))
    parsed = parse(parser)
    if parser.token.kind != END:
        parser.fail("the end of the expression" if isinstance(parsed, ast.Expression) else "the end of the query")
    return parsed

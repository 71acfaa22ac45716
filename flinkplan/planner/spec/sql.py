"""Texts of a spec that are SQL: names, types, expressions and queries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from ..sql import ast
from ..sql.errors import SqlSyntaxError
from ..sql.lexer import END
from ..sql.queries import CLAUSES
from ..sql.source import Span
from ..sql.statements import StatementParser
from .errors import SpecError
from .nodes import Scalar

T = TypeVar("T")

_NAME_PART = re.compile(r"`((?:[^`]|``)+)`|([^`.]+)")


def identifier(scalar: Scalar) -> ast.Identifier:
    """A name as it stands: in YAML it needs no backquotes, but may have them."""
    text = scalar.text
    if len(text) > 2 and text[0] == text[-1] == "`":
        text = text[1:-1].replace("``", "`")
    return ast.Identifier(text, True, span=scalar.span)


def identifiers(scalars: Iterable[Scalar]) -> tuple[ast.Identifier, ...]:
    return tuple(identifier(scalar) for scalar in scalars)


def name(scalar: Scalar) -> ast.Name:
    """A name of parts between dots; backquotes shelter a dot."""
    parts: list[ast.Identifier] = []
    at = 0
    while (part := _NAME_PART.match(scalar.text, at)) is not None:
        text = part[2] if part[1] is None else part[1].replace("``", "`")
        parts.append(ast.Identifier(text, True, span=scalar.span))
        at = part.end()
        if at == len(scalar.text):
            return ast.Name(tuple(parts), span=scalar.span)
        if scalar.text[at] != ".":
            break
        at += 1
    raise SpecError(f"'{scalar.text}' is no name", scalar.span, "a name is table, database.table or `a.b`")


def query(scalar: Scalar) -> ast.Query:
    return _parsed(scalar, StatementParser.query, "the end of the query", CLAUSES)


def expression(scalar: Scalar) -> ast.Expression:
    return _parsed(scalar, StatementParser.expression, "the end of the expression")


def data_type(scalar: Scalar) -> ast.DataType:
    return _parsed(scalar, lambda parser: parser.data_type(nullability=True), "the end of the data type")


def _parsed(scalar: Scalar, parse: Callable[[StatementParser], T], end: str, words: Iterable[str] = ()) -> T:
    """All of a scalar's text as SQL; its errors stand where the text stands in the file.

    ``words`` are the keywords by which the text could have gone on.
    """
    source = scalar.source
    parser = StatementParser(source)
    try:
        parsed = parse(parser)
    except RecursionError:
        raise SqlSyntaxError("the SQL is nested too deeply", Span(0, 1, source)) from None
    if parser.token.kind != END:
        parser.fail(end, words, hint="SQL in a spec takes no ';'" if parser.token.key == ";" else None)
    return parsed


def column_ref(scalar: Scalar) -> ast.ColumnRef:
    """A column, perhaps a qualified one."""
    return ast.ColumnRef(name(scalar).parts, span=scalar.span)


def sort_item(scalar: Scalar) -> ast.SortItem:
    """An item of ORDER BY."""
    return _parsed(scalar, StatementParser.sort_item, "the end of the order")

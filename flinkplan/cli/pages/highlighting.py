"""The colours of SQL on a page, from the tokens of the planner's lexer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import TypeAlias

from ...planner.sql.keywords import RESERVED
from ...planner.sql.lexer import BINARY, NUMBER, QUOTED, STRING, WORD, Token, tokenize
from ...planner.sql.source import Source

Piece: TypeAlias = tuple[int, int, str]
"""The start and the end of a part of a text, and its CSS class."""

_CLASSES = {STRING: "string", BINARY: "string", NUMBER: "number", QUOTED: "name"}
_COMMENT = re.compile(r"--[^\n]*|//[^\n]*|/\*.*?\*/", re.DOTALL)


def pieces(sql: str) -> tuple[Piece, ...]:
    """The parts of a script that have a colour, in their order."""
    return tuple(_pieces(sql))


def _pieces(sql: str) -> Iterator[Piece]:
    end = 0
    for token in tokenize(Source(sql)):
        for comment in _COMMENT.finditer(sql, end, token.start):
            yield comment.start(), comment.end(), "comment"
        end = token.end
        if (kind := _class(token)) is not None:
            yield token.start, token.end, kind


def _class(token: Token) -> str | None:
    if token.kind == WORD:
        return "keyword" if token.key in RESERVED else None
    return _CLASSES.get(token.kind)


def highlighted(sql: str, coloured: Sequence[Piece]) -> str:
    """The HTML of a script with these parts coloured."""
    parts = []
    end = 0
    for start, stop, kind in coloured:
        parts.append(f'{escape(sql[end:start])}<span class="{kind}">{escape(sql[start:stop])}</span>')
        end = stop
    return "".join((*parts, escape(sql[end:])))

"""The colours of SQL on a page: by the tokens of our own lexer, so that they are those of what is compiled."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import TypeAlias

from ...planner.sql.keywords import RESERVED
from ...planner.sql.lexer import BINARY, NUMBER, QUOTED, STRING, WORD, Token, tokenize
from ...planner.sql.source import Source

Piece: TypeAlias = tuple[int, int, str]
"""A part of a text, from one character up to another, and the class that it has on the page."""

_CLASSES = {STRING: "string", BINARY: "string", NUMBER: "number", QUOTED: "name"}
_COMMENT = re.compile(r"--[^\n]*|//[^\n]*|/\*.*?\*/", re.DOTALL)


def pieces(sql: str) -> tuple[Piece, ...]:
    """The parts of a script that have a colour, in their order; the rest has none."""
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

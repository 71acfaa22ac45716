"""Constant calls that match texts: LIKE, SIMILAR TO and regular expressions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from . import limits
from .registry import UnknownValue, declare


def _regex(pattern: str, text: str) -> re.Pattern[str]:
    """A Java pattern compiled in Python.  Raises :class:`UnknownValue` where both differ or it may take too long."""
    if not pattern.isascii() or re.search(r"\\[pPGQEhHRX]|\(\?|[*+?}]\+|&&", pattern):
        raise UnknownValue
    limits.steps(pattern, text)
    try:
        return re.compile(pattern)
    except re.error:
        raise UnknownValue from None


def _search(text: str, pattern: str) -> re.Match[str] | None:
    return _regex(pattern, text).search(text)


def _extract(text: str, pattern: str, group: int = 0) -> str | None:
    match_ = _search(text, pattern)
    return match_[group] if match_ and group <= (match_.re.groups) else None


def _first(text: str, pattern: str, read: Callable[[re.Match[str]], Any], otherwise: Any) -> Any:
    """``read`` of the first match; ``otherwise`` if there is none."""
    match_ = _search(text, pattern)
    return read(match_) if match_ else otherwise


def _replace(text: str, pattern: str, new: str) -> str:
    limits.length((len(text) + 1) * (len(new) + 1))
    return _regex(pattern, text).sub(lambda m: new, text)


def _similar(text: str, pattern: str) -> bool:
    return _regex(pattern, text).fullmatch(text) is not None


_ANY, _ONE = "%", "_"
_LINE_ENDS = "\n\r\u0085\u2028\u2029"


def like(text: str, pattern: str, escape: str | None = None) -> bool:
    """Whether a text is like a pattern, in which _ stands for one character that ends no line.

    What follows a % is looked for from left to right, and what was found first is never given up, since a later % may
    cover whatever an earlier one could.
    """
    tokens = _tokens(pattern, escape)
    if len(text) * len(tokens) > limits.STEPS:
        raise UnknownValue
    at, token, anything, resumed = 0, 0, -1, 0
    while at < len(text):
        name, c = tokens[token] if token < len(tokens) else ("", "")
        if name == _ANY:
            anything, resumed = token, at
            token += 1
        elif c == text[at] or (name == _ONE and text[at] not in _LINE_ENDS):
            at += 1
            token += 1
        elif anything >= 0:
            resumed += 1
            at, token = resumed, anything + 1
        else:
            return False
    return all(name == _ANY for name, _ in tokens[token:])


def _tokens(pattern: str, escape: str | None) -> list[tuple[str, str]]:
    """The parts of a pattern of LIKE: ``%`` or ``_``, or a character beside an empty name."""
    tokens = []
    characters = iter(pattern)
    for c in characters:
        if c == escape:
            following = next(characters, None)
            if following is None:
                raise UnknownValue
            tokens.append(("", following))
        else:
            tokens.append((c, "") if c in (_ANY, _ONE) else ("", c))
    return tokens


declare(
    {
        "LIKE": like,
        "SIMILAR TO": _similar,
        "REGEXP": lambda text, pattern: _search(text, pattern) is not None,
        "REGEXP_COUNT": lambda text, pattern: sum(1 for _ in _regex(pattern, text).finditer(text)),
        "REGEXP_EXTRACT": _extract,
        "REGEXP_INSTR": lambda text, pattern: _first(text, pattern, lambda m: m.start() + 1, 0),
        "REGEXP_SUBSTR": lambda text, pattern: _first(text, pattern, lambda m: m[0], None),
        "REGEXP_REPLACE": _replace,
    }
)

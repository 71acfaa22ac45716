"""Texts of plans and scripts in a form that is safe to show in a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters other than tab and line feed, marks that change the writing direction, and lone surrogates."""


def printable(text: str) -> str:
    """The text with control characters escaped, so that a terminal shows instead of obeying them: ``\\x1b[2J``."""
    return _UNPRINTABLE.sub(lambda match: _escaped(ord(match[0])), text)


def one_line(text: str) -> str:
    """The text as :func:`printable`, with line feeds and tabs escaped as well, for names and other texts within a line.

    A program that reads the output may take a line of its own for a command, as GitHub does with ``::error::``.
    """
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def continued(text: str) -> str:
    """The text as :func:`printable`, with a mark before each line but the first, for messages of several lines."""
    return printable(text).replace("\n", "\n  | ")


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A header and rows as text, each column as wide as its longest cell."""
    lines = [head, *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines)


def json_text(value: Any, indent: int | None = None, default: Callable[[Any], Any] | None = None) -> str:
    """A value as JSON in which the characters that :func:`printable` escapes are escaped as JSON does it."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, default=default)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _escaped(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def whole_characters(text: str) -> str:
    """The text with surrogate pairs joined into characters.  Raises :class:`ValueError` for a lone surrogate."""
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise ValueError("one half of a surrogate pair is no character") from None


def shortened(text: str, length: int = 60) -> str:
    """The text, cut off after ``length`` characters."""
    return text if len(text) <= length else f"{text[: length - 1]}…"

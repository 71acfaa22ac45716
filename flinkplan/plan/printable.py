"""Texts of plans and scripts as they can be shown to people."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters other than tab and line feed, marks that turn the direction of writing, halves of pairs."""


def printable(text: str) -> str:
    """The text with what a terminal would obey instead of showing it spelt out: ``\\x1b[2J``."""
    return _UNSEEN.sub(lambda match: _escaped(ord(match[0])), text)


def one_line(text: str) -> str:
    """The same for a name, or another text that stands in a line: line feeds and tabs are spelt out as well.

    A line of its own may be a command to whoever reads the output, as ``::error::`` is to GitHub.
    """
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def continued(text: str) -> str:
    """The same for a message of several lines: a mark before each but the first says that it goes on."""
    return printable(text).replace("\n", "\n  | ")


def json_text(value: Any, indent: int | None = None, default: Callable[[Any], Any] | None = None) -> str:
    """A value as JSON whose texts a terminal shows: what :func:`printable` spells out stands in JSON's own escapes."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, default=default)
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _escaped(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def whole_characters(text: str) -> str:
    """The text with pairs of surrogates made into their characters.  Raises :class:`ValueError` for half a pair."""
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise ValueError("one half of a surrogate pair is no character") from None


def shortened(text: str, length: int = 60) -> str:
    """The text, its end left out where it has more than ``length`` characters."""
    return text if len(text) <= length else f"{text[: length - 1]}…"

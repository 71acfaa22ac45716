"""Texts of plans and scripts as they can be shown to people."""

from __future__ import annotations

import re

_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters other than tab and line feed, marks that turn the direction of writing, halves of pairs."""


def printable(text: str) -> str:
    """The text with what a terminal would obey instead of showing it spelt out: ``\\x1b[2J``."""
    return _UNSEEN.sub(lambda match: _escaped(ord(match[0])), text)


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

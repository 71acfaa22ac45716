"""SQL inside YAML: text whose places are those of the file around it."""

from __future__ import annotations

import re

from ..sql.source import Source, Span

_BLOCK_STYLES = ("|", ">")
_SPACE = re.compile(r"\s*")
_SPACE_OR_ESCAPED_BREAK = re.compile(r"(?:\s|\\\r?\n)*")
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)")


class EmbeddedSource(Source):
    """The value of a YAML scalar as a text of its own, which says where it stands in the file.

    ``outer`` is the scalar as written, ``style`` its indicator: a quote, ``|``, ``>``, or nothing for a plain one. The
    two are matched only when a place is asked for, which is when something is wrong.
    """

    __slots__ = ("_offsets", "_outer", "_style")

    def __init__(self, value: str, outer: Span, style: str) -> None:
        super().__init__(value, outer.source.file)
        self._outer = outer
        self._style = style
        self._offsets: list[int] | None = None

    def position(self, offset: int) -> tuple[int, int]:
        """The line and column in the file."""
        if self._offsets is None:
            self._offsets = _offsets(self.text, self._outer.text, self._style)
        return self._outer.source.position(self._outer.start + self._offsets[offset])

    def line_text(self, line: int) -> str:
        """The text of a line of the file."""
        return self._outer.source.line_text(line)


def _offsets(value: str, written: str, style: str) -> list[int]:
    """Where each character of a scalar's value stands in the scalar as written, and where the last one ends.

    Indentation and folding change nothing but white space, so the other characters are met one by one, as themselves
    or, between quotes, escaped.
    """
    space = _SPACE_OR_ESCAPED_BREAK if style == '"' else _SPACE
    at = end = written.find("\n") + 1 if style in _BLOCK_STYLES else len(style)
    offsets = []
    for char in value:
        visible = not char.isspace()
        if visible and (gap := space.match(written, at)) is not None:
            at = gap.end()
        offsets.append(at)
        if style == '"' and (escape := _ESCAPE.match(written, at)) is not None:
            at = escape.end()
        elif style == "'" and written.startswith("''", at):
            at += 2
        elif visible or written[at : at + 1].isspace():
            at += 1
        if visible:
            end = at
    return [*offsets, end]

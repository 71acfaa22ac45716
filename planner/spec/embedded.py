"""SQL inside YAML: text whose places are those of the file around it."""

from __future__ import annotations

import re

from ..sql.source import Source, Span

_BLOCK_STYLES = ("|", ">")
_BETWEEN = re.compile(r"(?:\s|\\\r?\n)*")
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)")


class EmbeddedSource(Source):
    """The value of a YAML scalar as a text of its own, which says where it stands in the file.

    ``style`` is the scalar's indicator: a quote, ``|``, ``>``, or nothing for a plain one. Only when a place is asked
    for are the value's characters matched with those written, which quotes, escapes, indentation and folding part.
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


def _offsets(value: str, raw: str, style: str) -> list[int]:
    """Where each character of a scalar's value stands in the scalar as written, and where the last one ends.

    What YAML adds or folds is white space, so the other characters are met one by one.
    """
    at = raw.find("\n") + 1 if style in _BLOCK_STYLES else len(style)
    offsets = []
    end = at
    for char in value:
        if not char.isspace():
            between = _BETWEEN.match(raw, at) if style == '"' else re.compile(r"\s*").match(raw, at)
            at = between.end() if between else at
        offsets.append(min(at, len(raw)))
        escape = _ESCAPE.match(raw, at) if style == '"' else None
        if escape is not None:
            at = escape.end()
        elif style == "'" and raw.startswith("''", at):
            at += 2
        elif not char.isspace() or raw[at : at + 1].isspace():
            at += 1
        end = at if not char.isspace() else end
    return [*offsets, min(end, len(raw))]

"""Where things stand in a SQL text."""

from __future__ import annotations

from bisect import bisect_right
from typing import ClassVar

from ...plan.errors import Location
from ...plan.record import PartlyCompared


class Source:
    """A SQL text and the file it came from (``None`` for text without a file)."""

    __slots__ = ("_line_starts", "file", "text")

    def __init__(self, text: str, file: str | None = None) -> None:
        self.text = text
        self.file = file
        self._line_starts: list[int] | None = None

    def position(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset, both from 1."""
        starts = self._line_starts
        if starts is None:
            starts = [0]
            starts.extend(i + 1 for i, char in enumerate(self.text) if char == "\n")
            self._line_starts = starts
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """The text of a line, counted from 1, without its line break."""
        lines = self.text.split("\n")
        return lines[line - 1].rstrip("\r") if line <= len(lines) else ""


def without_mark(text: str) -> str:
    """A text without the byte order mark that some editors put before it."""
    return text.removeprefix("\ufeff")


class Span(PartlyCompared, gc=False):
    """A half-open range of offsets in a source."""

    start: int
    end: int
    source: Source

    apart: ClassVar[frozenset[str]] = frozenset({"source"})

    @property
    def text(self) -> str:
        """The source text of the span."""
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        """The line on which the span starts, from 1."""
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        """The column at which the span starts, from 1."""
        return self.source.position(self.start)[1]

    @property
    def location(self) -> Location:
        """The span as a place in a file; ``end_column`` is the one after its last character on that line."""
        line, column = self.source.position(self.start)
        end_line, end_column = self.source.position(max(self.start, self.end))
        if end_line != line:
            end_column = len(self.source.line_text(line)) + 1
        return Location(file=self.source.file, line=line, column=column, end_column=end_column)

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of the other."""
        return Span(self.start, other.end, self.source)


NO_SPAN = Span(0, 0, Source(""))
"""The span of nodes that stand in no text."""

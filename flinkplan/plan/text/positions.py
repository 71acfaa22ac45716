"""The positions of the values in a JSON text, by JSON pointer."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from typing import NamedTuple

from ..errors import Location
from ..record import Struct, cached_property

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


class Extent(NamedTuple):
    """The half-open range of offsets of a value, and the offset of its key (of the value itself in a list)."""

    start: int
    end: int
    key: int


class Positions:
    """The extents of all values of a text that :func:`.json_text.parse_json` accepts; computed on first use."""

    def __init__(self, text: str, file: str | None = None) -> None:
        self.text = text
        self.file = file

    @cached_property
    def extents(self) -> Mapping[str, Extent]:
        """JSON pointer → extent."""
        return _scan(self.text)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(m.end() for m in re.finditer("\n", self.text))]

    def location(self, pointer: str) -> Location:
        """The place of the key (or list element) that ``pointer`` names, or of its nearest parent.

        ``end_column`` is set if key and value end on the same line.
        """
        while pointer and pointer not in self.extents:
            pointer = pointer.rpartition("/")[0]
        extent = self.extents.get(pointer)
        if extent is None:
            return Location(self.file)
        line = bisect_right(self._line_starts, extent.key)
        start = self._line_starts[line - 1]
        on_one_line = bisect_right(self._line_starts, extent.end - 1) == line
        return Location(self.file, line, extent.key - start + 1, extent.end - start + 1 if on_one_line else None)

    def line_text(self, line: int) -> str:
        """The text of a line, counted from 1, without its line break."""
        start = self._line_starts[line - 1]
        return self.text[start:].partition("\n")[0].rstrip("\r")

    def indentation(self, pointer: str) -> str:
        """The white space at the start of the line on which the key (or list element) stands."""
        start = self._line_starts[bisect_right(self._line_starts, self.extents[pointer].key) - 1]
        blank = re.compile(r"[ \t]*").match(self.text, start)
        return blank.group() if blank else ""

    def replace(self, values: Mapping[str, str]) -> str:
        """The text with the values at these pointers replaced by other JSON text, and everything else unchanged."""
        text = self.text
        for pointer in sorted(values, key=lambda p: self.extents[p].start, reverse=True):
            extent = self.extents[pointer]
            text = text[: extent.start] + values[pointer] + text[extent.end :]
        return text


def pointer(*steps: str | int) -> str:
    """The JSON pointer of a path: ``pointer("nodes", 0, "a/b")`` is ``/nodes/0/a~1b``."""
    return "".join(map(_step, steps))


def _step(step: str | int) -> str:
    text = str(step)
    return "/" + (text.replace("~", "~0").replace("/", "~1") if "~" in text or "/" in text else text)


class _Open(Struct):
    """An object or list that is being read; ``step`` is the key or index of the next value."""

    path: str
    start: int
    key: int
    step: str | int | None
    step_at: int = 0


def _scan(text: str) -> dict[str, Extent]:
    extents: dict[str, Extent] = {}
    open_: list[_Open] = []
    for token in _TOKEN.finditer(text):
        at, word = token.start(), token.group()
        if word in "}]":
            closed = open_.pop()
            extents[closed.path] = Extent(closed.start, token.end(), closed.key)
        elif word == ",":
            if isinstance(open_[-1].step, int):
                open_[-1].step += 1
            else:
                open_[-1].step = None
        elif open_ and open_[-1].step is None:
            open_[-1].step, open_[-1].step_at = _unquote(word), at
        elif word != ":":
            path, key = "", at
            if open_:
                parent = open_[-1]
                path = parent.path + _step("" if parent.step is None else parent.step)
                key = at if isinstance(parent.step, int) else parent.step_at
            if word in "{[":
                open_.append(_Open(path, at, key, None if word == "{" else 0))
            else:
                extents[path] = Extent(at, token.end(), key)
    return extents


def location_of_repeated_key(text: str, file: str | None = None) -> Location:
    """The place of the first key that repeats an earlier key of its object."""
    open_: list[set[str]] = []
    before, at = "", 0
    for token in _TOKEN.finditer(text):
        word = token.group()
        if word in ("{", "["):
            open_.append(set())
        elif word in ("}", "]"):
            open_.pop()
        elif word == ":":
            key = _unquote(before)
            if key in open_[-1]:
                line = text.count("\n", 0, at) + 1
                column = at - text.rfind("\n", 0, at)
                return Location(file, line, column, column + len(before))
            open_[-1].add(key)
        before, at = word, token.start()
    return Location(file)


def _unquote(word: str) -> str:
    if "\\" not in word:
        return word[1:-1]
    import json

    unquoted: str = json.loads(word)
    return unquoted

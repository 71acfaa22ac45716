"""A YAML document as a tree of frozen nodes that know where they stand."""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from ...plan.record import Record
from ..sql.source import Span
from .embedded import EmbeddedSource

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLEANS = {word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_MOST_DIGITS = 100
"""A number of more digits is left a text: none that a spec may hold is as long, and converting it takes long."""


class Scalar(Record):
    """A text, number, truth value or nothing; ``style`` is its indicator (a quote, ``|``, ``>``), if it has one."""

    text: str
    style: str
    span: Span

    @property
    def data(self) -> str | int | float | bool | None:
        """What the text means by the core schema of YAML 1.2; a quoted one is always a text."""
        text = self.text
        if self.style:
            return text
        if text in _NULL:
            return None
        if text in _BOOLEANS:
            return _BOOLEANS[text]
        if len(text) > _MOST_DIGITS:
            return text
        if _INTEGER.fullmatch(text):
            return int(text)
        return float(text) if _FLOAT.fullmatch(text) else text

    @property
    def source(self) -> EmbeddedSource:
        """The text, for a parser."""
        return EmbeddedSource(self.text, self.span, self.style)


class Sequence(Record):
    """A list."""

    items: tuple[Node, ...]
    span: Span

    @property
    def data(self) -> list[Any]:
        """The same as a plain list."""
        return [item.data for item in self.items]


class Mapping(Record):
    """Keys with their values, in order; ``flow`` says that it is written in braces."""

    entries: tuple[tuple[Scalar, Node], ...]
    flow: bool
    span: Span

    @property
    def data(self) -> dict[str, Any]:
        """The same as a plain dict."""
        return {key.text: value.data for key, value in self.entries}

    def entry(self, key: str) -> tuple[Scalar, Node] | None:
        """A key and its value."""
        return next((entry for entry in self.entries if entry[0].text == key), None)

    # What a checked document is known to hold

    def get(self, key: str) -> Node | None:
        """The value of a key; ``None`` where there is none or it is empty."""
        entry = self.entry(key)
        if entry is None or (isinstance(entry[1], Scalar) and entry[1].data is None):
            return None
        return entry[1]

    def scalar(self, key: str) -> Scalar | None:
        """The scalar of a key."""
        value = self.get(key)
        return value if isinstance(value, Scalar) else None

    def text(self, key: str) -> str | None:
        """The text of a key's scalar."""
        value = self.scalar(key)
        return None if value is None else value.text

    def flag(self, key: str) -> bool:
        """Whether a key is true."""
        value = self.scalar(key)
        return value is not None and value.data is True

    def mapping(self, key: str) -> Mapping:
        """The mapping of a key; an empty one where there is none."""
        value = self.get(key)
        return value if isinstance(value, Mapping) else Mapping((), False, self.span)

    def sequence(self, key: str) -> tuple[Node, ...]:
        """The items of a key; a single value is a list of one."""
        value = self.get(key)
        if isinstance(value, Sequence):
            return value.items
        return () if value is None else (value,)

    def scalars(self, key: str) -> tuple[Scalar, ...]:
        """The scalars of a key's list; a single one is a list of one."""
        return tuple(item for item in self.sequence(key) if isinstance(item, Scalar))


Node: TypeAlias = Scalar | Sequence | Mapping

"""YAML text to nodes with positions.  Imports ruamel.yaml, so that this module is imported for a spec only."""

from __future__ import annotations

from collections.abc import Iterator

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionStartEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
    StreamStartEvent,
)
from ruamel.yaml.reader import ReaderError

from ...plan.printable import whole_characters
from ..sql.source import Source, Span
from .errors import Findings, SpecError
from .nodes import Mapping, Node, Scalar, Sequence

MAX_DEPTH = 20
"""A spec is six levels deep; whatever goes far beyond is no spec."""

_AROUND = (StreamStartEvent, StreamEndEvent, DocumentStartEvent, DocumentEndEvent)
_HINTS = {
    "found character '\\t'": "indent with spaces; YAML takes no tabs there",
    "found character '`'": "names need no backquotes as keys; a value that starts with one needs quotes around it",
    "found character '%'": "quote the value",
    "found character '@'": "quote the value",
    "mapping values are not allowed here": "is the indentation right? A value with ': ' in it needs quotes, or '|' and "
    "a line of its own",
    "could not find expected ':'": "a key is followed by ': ' and its value",
    "did not find expected <document start>": "a file holds one spec",
    "expected <block end>": "is the indentation right?",
    "found unexpected end of stream": "is a closing quote or bracket missing?",
    "expected the node content, but found '<stream end>'": "is a closing bracket missing?",
    "expected ',' or": "is a comma or a closing bracket missing, or has a value a bracket in it that needs quotes?",
}


def read(source: Source) -> Node:
    """The document of a text.

    Raises :class:`SpecError` (an ErrorGroup for several) for what is no YAML, for duplicate keys, and for what makes a
    spec hard to read: anchors, aliases, tags, several documents.
    """
    return _Reader(source).document()


class _Reader:
    """Builds nodes from the events of ruamel.yaml's parser."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._findings = Findings()
        self._events = self._parsed()
        self._depth = 0

    def document(self) -> Node:
        event = next(self._events, None)
        if event is None:
            raise SpecError("the file is empty", self._span(0, 0), "start with 'version: 1'; 'flinkplan init' helps")
        document = self._node(event)
        if (more := next(self._events, None)) is not None:
            self._findings.add(SpecError("a second document starts here", self._at(more), "a file holds one spec"))
        self._findings.raise_if_any()
        return document

    def _parsed(self) -> Iterator[Event]:
        """The events of nodes; what is no YAML raises a :class:`SpecError`."""
        try:
            for event in YAML(typ="safe", pure=True).parse(self._source.text):
                if not isinstance(event, _AROUND):
                    yield event
        except MarkedYAMLError as error:
            raise self._no_yaml(error) from None
        except ReaderError as error:
            raise SpecError(
                f"the character U+{error.character:04X} may not stand in YAML",
                self._span(error.position, error.position + 1),
            ) from None

    def _no_yaml(self, error: MarkedYAMLError) -> SpecError:
        mark = error.problem_mark or error.context_mark
        problem = str(error.problem or error.context)
        at = mark.index if mark is not None else 0
        hint = next((hint for start, hint in _HINTS.items() if problem.startswith(start)), None)
        return SpecError(f"this is not YAML: {problem}", self._span(at, at + 1), hint)

    def _node(self, event: Event) -> Node:
        if isinstance(event, AliasEvent):
            self._findings.add(SpecError("a spec takes no aliases", self._at(event), "write the value out"))
            return Scalar(f"*{event.anchor}", "", self._at(event))
        assert isinstance(event, ScalarEvent | CollectionStartEvent), "every other event ends what was started"
        if event.anchor is not None:
            hint = "a table takes over the columns of another by 'like: its name'"
            self._findings.add(SpecError("a spec takes no anchors", self._at(event), hint))
        if event.tag is not None:
            self._findings.add(SpecError("a spec takes no tags", self._at(event), "quotes make a text of anything"))
        if isinstance(event, ScalarEvent):
            return Scalar(self._text(event), event.style or "", self._at(event))
        if self._depth == MAX_DEPTH:
            raise SpecError("this is nested too deeply for a spec", self._at(event))
        self._depth += 1
        collected = self._mapping(event) if isinstance(event, MappingStartEvent) else self._sequence(event)
        self._depth -= 1
        return collected

    def _text(self, event: ScalarEvent) -> str:
        try:
            return whole_characters(event.value)
        except ValueError as error:
            raise SpecError(str(error), self._at(event)) from None

    def _sequence(self, start: Event) -> Sequence:
        items: list[Node] = []
        while not isinstance(event := next(self._events), SequenceEndEvent):
            items.append(self._node(event))
        return Sequence(tuple(items), self._span(start.start_mark.index, event.end_mark.index))

    def _mapping(self, start: MappingStartEvent) -> Mapping:
        entries: dict[str, tuple[Scalar, Node]] = {}
        while not isinstance(event := next(self._events), MappingEndEvent):
            key = self._node(event)
            value = self._node(next(self._events))
            if not isinstance(key, Scalar):
                self._findings.add(SpecError("a key is a text", key.span))
            elif key.text in entries:
                first = entries[key.text][0].span
                hint = f"the first one stands at {first.line}:{first.column}"
                self._findings.add(SpecError(f"the key '{key.text}' stands here for a second time", key.span, hint))
            else:
                entries[key.text] = (key, value)
        return Mapping(
            tuple(entries.values()), bool(start.flow_style), self._span(start.start_mark.index, event.end_mark.index)
        )

    def _at(self, event: Event) -> Span:
        return self._span(event.start_mark.index, event.end_mark.index)

    def _span(self, start: int, end: int) -> Span:
        return Span(start, end, self._source)

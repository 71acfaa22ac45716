"""What a page shows, whatever it is about."""

from __future__ import annotations

from ...plan.record import Record


class Section(Record):
    """A part of what is known of a node: a text, or rows of cells under heads."""

    head: str
    text: str | None = None
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    mark: str | None = None
    """How it is coloured: a verdict, or ``None``."""


class Node(Record):
    """A box of the graph; ``key`` is its own, ``id`` what people call it.

    ``mark`` says what became of it in a difference, ``verdict`` what that does to state, ``reason`` why.
    ``places`` are where it stands in the text beside the graph: from one character up to another.
    """

    key: str
    id: str
    name: str
    about: str
    badges: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    mark: str | None = None
    verdict: str | None = None
    stateful: bool = False
    places: tuple[tuple[int, int], ...] = ()
    reason: str | None = None


class Edge(Record):
    """An arrow from a node to one that reads it."""

    source: str
    target: str
    text: str = ""
    mark: str | None = None


class Graph(Record):
    """A page: its title, a line below it, a verdict if there is one, what is said of the whole, the graph, and SQL.

    ``colours`` are parts of the SQL with the classes that they have: :func:`.highlighting.pieces`.
    """

    title: str
    subtitle: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    verdict: str | None = None
    sections: tuple[Section, ...] = ()
    sql: str | None = None
    colours: tuple[tuple[int, int, str], ...] = ()

"""The content of a page with a graph."""

from __future__ import annotations

from ...plan.record import Record


class Section(Record):
    """A section about a node or the plan: a text, a table, or both."""

    head: str
    text: str | None = None
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    mark: str | None = None
    """The verdict by which it is coloured, or ``None``."""
    lists_columns: bool = False
    """Whether the rows are the columns of the node, in order: a click on one shows its way."""


class Node(Record):
    """A box of the graph; ``key`` is unique on the page, ``id`` is what users see.

    In a difference, ``mark`` is the kind of the edit, ``verdict`` its effect on state, ``reason`` why.  ``places`` are
    the ranges of characters, start and end, that it comes from in the text beside the graph.
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


class ColumnUse(Record):
    """A column of the node ``target`` that is computed from a column of the node ``source``, by their positions."""

    target: str
    column: int
    source: str
    source_column: int
    how: str


class Graph(Record):
    """A page: title and subtitle, a verdict for a difference, sections about the plan, the graph, and its SQL.

    ``colours`` are the parts of the SQL with their CSS classes, from :func:`.highlighting.pieces`; ``uses`` tell which
    columns are computed from which.
    """

    title: str
    subtitle: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    verdict: str | None = None
    sections: tuple[Section, ...] = ()
    sql: str | None = None
    colours: tuple[tuple[int, int, str], ...] = ()
    uses: tuple[ColumnUse, ...] = ()

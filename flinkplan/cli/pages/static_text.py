"""A graph as plain HTML for browsers that run no scripts: each node with its inputs and sections."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from ...plan.printable import printable
from .model import Graph, Node, Section


def static_text(graph: Graph) -> str:
    """The sections about the plan, then the nodes, the sinks first."""
    return "\n".join(_parts(graph))


def _parts(graph: Graph) -> Iterator[str]:
    for section in graph.sections:
        yield from _section(section)
    names = {node.key: f"{node.name} {node.id}" for node in graph.nodes}
    for node in reversed(graph.nodes):
        reads = [names[edge.source] for edge in graph.edges if edge.target == node.key]
        yield from _node(node, reads)


def _node(node: Node, reads: list[str]) -> Iterator[str]:
    title = " · ".join(filter(None, (f"{node.name} {node.id}", node.mark, node.verdict)))
    yield f"<details><summary>{_text(title)}</summary>"
    yield f"<p>{_text(node.reason or node.about)}</p>"
    if reads:
        yield f"<p>reads {_text(', '.join(reads))}</p>"
    for section in node.sections:
        yield from _section(section)
    yield "</details>"


def _section(section: Section) -> Iterator[str]:
    yield f"<h3>{_text(section.head)}</h3>"
    if section.text is not None:
        yield f'<p class="text">{_text(section.text)}</p>'
    if section.rows:
        head = "".join(f"<th>{_text(cell)}</th>" for cell in section.heads)
        rows = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in section.rows)
        yield f"<table>{f'<tr>{head}</tr>' if head else ''}{rows}</table>"


def _text(text: str) -> str:
    return escape(printable(text) if "\n" not in text else "\n".join(map(printable, text.split("\n"))))

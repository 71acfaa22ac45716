"""Exchanges of batch plans that Flink replaces by clones, and whose edges it writes to the original.

Where the inputs of a join would wait for each other, Flink puts a clone of an exchange with another exchange mode
before one of them.  The clone shares the edge of its input with the original: so in the plan the original has the edge
twice, or it is not there, and the clone has no input.  Flink does not execute such a plan.
Source: ``InputPriorityConflictResolver.resolveInputPriorityConflict``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .nodes.base import BATCH

_EXCHANGE = f"{BATCH}exchange_"


def with_edges_of_clones(document: Any) -> Any:
    """The document of a plan in which each cloned exchange has its input; any other document as it is."""
    nodes, edges = (document.get(key) if isinstance(document, Mapping) else None for key in ("nodes", "edges"))
    if not isinstance(nodes, list) or not isinstance(edges, list):
        return document
    if not all(isinstance(each, Mapping) for each in (*nodes, *edges)):
        return document
    moved = list(edges)
    for clone in nodes:
        is_exchange = str(clone.get("type")).startswith(_EXCHANGE)
        if is_exchange and not any(edge.get("target") == clone.get("id") for edge in moved):
            place = _place_of_edge(clone, nodes, moved)
            if place is not None:
                moved[place] = {**moved[place], "target": clone.get("id")}
    return document if moved == edges else {**document, "edges": moved}


def _place_of_edge(
    clone: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]], edges: Sequence[Mapping[str, Any]]
) -> int | None:
    """The index of the edge that leads to the original of a clone; ``None`` if there is none."""
    for original in nodes:
        places = [i for i, edge in enumerate(edges) if edge.get("target") == original.get("id")]
        is_twice = len(places) > 1 and len({str(edges[i].get("source")) for i in places}) == 1
        if is_twice and _passes(original) == _passes(clone):
            return places[-1]
    ids = [node.get("id") for node in nodes]
    columns = {str(node.get("id")): node.get("outputType") for node in nodes}
    for place, edge in enumerate(edges):
        if edge.get("target") not in ids and columns.get(str(edge.get("source"))) == clone.get("outputType"):
            return place
    return None


def _passes(exchange: Mapping[str, Any]) -> tuple[Any, Any]:
    """The columns of an exchange, and how it distributes rows."""
    properties = exchange.get("inputProperties")
    first = properties[0] if isinstance(properties, list) and properties else None
    return exchange.get("outputType"), first.get("requiredDistribution") if isinstance(first, Mapping) else None

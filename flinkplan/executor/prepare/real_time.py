"""What of a plan runs in Spark's real-time mode, where operators see each row when it comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import count

from ...plan.document import Edge, Plan
from ...plan.errors import FlinkplanError, UnsupportedError, combined_error
from ...plan.nodes import ExecNode, TableSourceScan
from ...plan.record import replace
from ..connectors import find_connector
from ..connectors.tables import table_of
from .query import QueryPlan, choice_of, never

_READ_TWICE = "what it reads goes two ways, and read for each of them it would not be the same"
_MOST_WAYS = 64
"""Of as many copies of a node Spark makes a query without trouble; ways may double at every node of a plan."""


def obstacles(query: QueryPlan) -> dict[int, str]:
    """Why nodes of a query do not run, by their ids."""
    ways = _ways(query.plan)
    reasons: dict[int, str] = {}
    for node in query.plan.nodes:
        choice = choice_of(type(node))
        obstacle = never(node, query) if choice is None else choice.real_time(node, query)
        if obstacle is None and ways[node.id] > _MOST_WAYS:
            obstacle = f"its rows go {ways[node.id]} ways, and there is a copy of it for each; {_MOST_WAYS} is the most"
        if obstacle is None and isinstance(node, TableSourceScan) and ways[node.id] > 1 and not _repeats(node):
            obstacle = _READ_TWICE
        if obstacle is not None:
            reasons[node.id] = obstacle
    return reasons


def _ways(plan: Plan) -> Counter[int]:
    """How many ways lead from a node to the sink, by its id."""
    ways = Counter({sink.id: 1 for sink in plan.sinks})
    for node in reversed(plan.nodes):
        for source in plan.inputs(node):
            ways[source.id] += ways[node.id]
    return ways


def _repeats(node: TableSourceScan) -> bool:
    """Whether a table that is read twice yields the same rows."""
    reference = node.scan_table_source.table
    if reference.resolved_table is None or reference.resolved_table.options is None:
        return False
    return find_connector(table_of(reference, {})).repeats


def unshared(query: QueryPlan) -> QueryPlan:
    """The same query where no node feeds two others, as Spark reads each source once; copies have ids of their own."""
    plan = query.plan
    if max(_ways(plan).values()) == 1:
        return query
    numbers = count(max(node.id for node in plan.nodes) + 1)
    inputs: dict[int, list[Edge]] = {node.id: [] for node in plan.nodes}
    for edge in plan.edges:
        inputs[edge.target].append(edge)
    nodes: list[ExecNode] = []
    edges: list[Edge] = []
    known = {sink.id for sink in plan.sinks}
    left = [(id, id) for id in known]
    while left:
        id, number = left.pop()
        nodes.append(replace(plan.by_id[id], id=number))
        for edge in inputs[id]:
            source = next(numbers) if edge.source in known else edge.source
            known.add(edge.source)
            edges.append(replace(edge, source=source, target=number))
            left.append((edge.source, source))
    copied = Plan(plan.flink_version, tuple(reversed(nodes)), tuple(edges))
    return replace(query, plan=copied, whole=copied)


def check_real_time(queries: Iterable[QueryPlan]) -> None:
    """Raise :class:`UnsupportedError` for all nodes that do not run."""
    errors: list[FlinkplanError] = []
    for query in queries:
        against = obstacles(query)
        for node in query.plan.nodes:
            if node.id in against:
                message = f"'{node.type}' does not run in real-time mode: {against[node.id]}"
                errors.append(
                    UnsupportedError(message, where=f"node {node.id}", hint="--mode streaming runs it in micro-batches")
                )
    if errors:
        raise combined_error(errors)


def task_slots(query: QueryPlan, partitions: int) -> int:
    """How many tasks a query runs at once: each source is one, each shuffle ``partitions``."""
    ways = _ways(query.plan)
    sources = sum(ways[node.id] for node in query.plan.nodes if isinstance(node, TableSourceScan))
    return sources + partitions * sum(ways[id] for id, step in query.steps.items() if step.shuffle is not None)

"""What of a plan runs in Spark's real-time mode, where operators see each row when it comes; known without Spark."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import count
from typing import TYPE_CHECKING

from ..plan.document import Edge, Plan
from ..plan.errors import FlinkplanError, UnsupportedError, combined_error
from ..plan.nodes import ExecNode, TableSourceScan
from ..plan.record import replace
from .connectors import find_connector
from .execution import QueryPlan
from .jvm.session import PARTITIONS
from .physical import execute_nodes
from .registry import translators
from .tables import table_of

if TYPE_CHECKING:
    from pyspark import SparkContext

SHORTEST_INTERVAL = 5.0
"""Spark takes no more checkpoints than one in so many seconds."""

_LOCAL = re.compile(r"local(?:\[(\*|\d+)(?:,\d+)?\])?")
_READ_TWICE = "what it reads goes two ways, and read for each of them it would not be the same"
_MOST_WAYS = 64
"""Of as many copies of a node Spark makes a query without trouble; ways may double at every node of a plan."""


def real_time_query(plan: Plan) -> QueryPlan:
    """The query of a part of a plan."""
    return QueryPlan(plan, folds=False, is_real_time=True)


def obstacles(query: QueryPlan) -> dict[int, str]:
    """Why nodes of a query do not run, by their ids."""
    known = translators()
    ways = _ways(query.plan)
    found: dict[int, str] = {}
    for node in query.plan.nodes:
        obstacle = known[type(node)].real_time(node, query)
        if obstacle is None and ways[node.id] > _MOST_WAYS:
            obstacle = f"its rows go {ways[node.id]} ways, and there is a copy of it for each; {_MOST_WAYS} is the most"
        if obstacle is None and isinstance(node, TableSourceScan) and ways[node.id] > 1 and not _repeats(node):
            obstacle = _READ_TWICE
        if obstacle is not None:
            found[node.id] = obstacle
    return found


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


def unshared(plan: Plan) -> Plan:
    """The same plan where no node feeds two others, as Spark reads each source once; copies have ids of their own."""
    if max(_ways(plan).values()) == 1:
        return plan
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
    return Plan(plan.flink_version, tuple(reversed(nodes)), tuple(edges))


def check_real_time(queries: Iterable[Plan]) -> None:
    """Raise :class:`UnsupportedError` for all nodes that do not run."""
    errors: list[FlinkplanError] = []
    for plan in queries:
        query = real_time_query(plan)
        found = obstacles(query)
        for node in plan.nodes:
            if node.id in found:
                message = f"'{node.type}' does not run in real-time mode: {found[node.id]}"
                errors.append(
                    UnsupportedError(message, where=f"node {node.id}", hint="--mode streaming runs it in micro-batches")
                )
    if errors:
        raise combined_error(errors)


def check_interval(seconds: float) -> None:
    """Raise :class:`FlinkplanError` for an interval between checkpoints that Spark refuses."""
    if seconds < SHORTEST_INTERVAL:
        raise FlinkplanError(
            f"real-time mode takes a checkpoint every {SHORTEST_INTERVAL:g} s at the most, not every {seconds:g} s",
            hint=f"--checkpoint-interval {SHORTEST_INTERVAL:g}s",
        )


def task_slots(plan: Plan, partitions: int) -> int:
    """How many tasks a query runs at once: each source is one, each shuffle ``partitions``."""
    ways = _ways(plan)
    executions = execute_nodes(real_time_query(plan))
    sources = sum(ways[node.id] for node in plan.nodes if isinstance(node, TableSourceScan))
    return sources + partitions * sum(ways[id] for id, execution in executions.items() if execution.shuffle is not None)


def master_with(slots: int, master: str | None) -> str | None:
    """``master``, a local one with threads for so many tasks at once."""
    match = _LOCAL.fullmatch(master or "local[*]")
    if match is None:
        return master
    threads = match[1] or "1"
    own = os.cpu_count() or 1 if threads == "*" else int(threads)
    return f"local[{max(slots, own)}]"


def check_slots(slots: int, spark: SparkContext) -> None:
    """Raise :class:`FlinkplanError` where Spark on this machine, or as many executors as were asked for, have too few.

    Of executors that come and go nobody knows how many there will be; Spark says it when it has too few.
    """
    master, conf = spark.master or "", spark.getConf()
    executors = conf.get("spark.executor.instances")
    if _LOCAL.fullmatch(master):
        available, hint = spark.defaultParallelism, f"--master local[{slots}]"
    elif executors is not None:
        available = int(executors) * int(conf.get("spark.executor.cores") or 1)
        hint = "more executors: --conf spark.executor.instances=N, or more cores for each: spark.executor.cores"
    else:
        return
    if slots > available:
        raise FlinkplanError(
            f"in real-time mode all tasks run at once: the job has {slots}, and {available} can; "
            f"{slots - available} slots are missing",
            hint=f"{hint}; or bring rows together in fewer partitions: --conf {PARTITIONS}=1",
        )


def slots_of(queries: Mapping[str, Plan], partitions: int) -> int:
    """The slots of all queries of a job."""
    return sum(task_slots(plan, partitions) for plan in queries.values())

"""What of a plan runs in Spark's real-time mode, where operators see each row when it comes; known without Spark."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import count
from typing import TYPE_CHECKING

from ..plan.document import Edge, Plan
from ..plan.errors import FlinkplanError, UnsupportedError, together
from ..plan.nodes import ExecNode, TableSourceScan
from ..plan.record import replace
from .connectors import find_connector
from .execution import QueryPlan
from .physical import execute_nodes
from .registry import translators
from .session import PARTITIONS
from .tables import table_of

if TYPE_CHECKING:
    from pyspark import SparkContext

SHORTEST_INTERVAL = 5.0
"""Spark takes no more checkpoints than one in so many seconds."""

_LOCAL = re.compile(r"local(?:\[(\*|\d+)(?:,\d+)?\])?")
_READ_TWICE = "what it reads goes two ways, and read for each of them it would not be the same"


def real_time_query(plan: Plan) -> QueryPlan:
    """The query of a part of a plan."""
    return QueryPlan(plan, folds=False, is_real_time=True)


def obstacles(query: QueryPlan) -> dict[int, str]:
    """Why nodes of a query do not run, by their ids."""
    known = translators()
    twice = _on_several_ways(query.plan)
    found: dict[int, str] = {}
    for node in query.plan.nodes:
        obstacle = known[type(node)].real_time(node, query)
        if obstacle is None and isinstance(node, TableSourceScan) and node.id in twice and not _repeats(node):
            obstacle = _READ_TWICE
        if obstacle is not None:
            found[node.id] = obstacle
    return found


def _on_several_ways(plan: Plan) -> set[int]:
    """The ids of the nodes from which more than one way leads to the sink."""
    ways = Counter({sink.id: 1 for sink in plan.sinks})
    for node in reversed(plan.nodes):
        for source in plan.inputs(node):
            ways[source.id] += ways[node.id]
    return {id for id, count in ways.items() if count > 1}


def _repeats(node: TableSourceScan) -> bool:
    """Whether a table that is read twice yields the same rows."""
    reference = node.scan_table_source.table
    if reference.resolved_table is None or reference.resolved_table.options is None:
        return False
    return find_connector(table_of(reference, {})).repeats


def unshared(plan: Plan) -> Plan:
    """The same plan where no node feeds two others, as Spark reads each source once; copies have ids of their own."""
    if not any(ways > 1 for ways in Counter(edge.source for edge in plan.edges).values()):
        return plan
    numbers = count(max(node.id for node in plan.nodes) + 1)
    nodes: list[ExecNode] = []
    edges: list[Edge] = []
    known: set[int] = set()

    def copy(node: ExecNode) -> int:
        number = next(numbers) if node.id in known else node.id
        known.add(node.id)
        for edge in [edge for edge in plan.edges if edge.target == node.id]:
            edges.append(replace(edge, source=copy(plan.by_id[edge.source]), target=number))
        nodes.append(replace(node, id=number))
        return number

    for sink in plan.sinks:
        copy(sink)
    return Plan(plan.flink_version, tuple(nodes), tuple(edges))


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
        raise together(errors)


def check_interval(seconds: float) -> None:
    """Raise :class:`FlinkplanError` for an interval between checkpoints that Spark refuses."""
    if seconds < SHORTEST_INTERVAL:
        raise FlinkplanError(
            f"real-time mode takes a checkpoint every {SHORTEST_INTERVAL:g} s at the most, not every {seconds:g} s",
            hint=f"--checkpoint-interval {SHORTEST_INTERVAL:g}s",
        )


def task_slots(plan: Plan, partitions: int) -> int:
    """How many tasks a query runs at once: each source is one, each shuffle ``partitions``."""
    plan = unshared(plan)
    executions = execute_nodes(real_time_query(plan)).values()
    sources = sum(isinstance(node, TableSourceScan) for node in plan.nodes)
    return sources + partitions * sum(execution.shuffle is not None for execution in executions)


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

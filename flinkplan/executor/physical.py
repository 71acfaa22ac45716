"""What runs each node of a plan on Spark, and why: told by the translators, without Spark.

A translator declares it beside itself (see :mod:`.registry`), so that what is explained is what is run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..plan.document import Plan
from ..plan.explain import Label, Line, draw
from ..plan.nodes import ExecNode
from ..plan.record import to_builtins
from .connectors import is_bounded
from .errors import TableError
from .execution import Execution, QueryPlan
from .folding import folds_changes
from .parts import queries_of
from .registry import check_nodes, translators


def physical_lines(
    queries: Mapping[str, Plan], *, is_batch: bool, obstacles: Mapping[str, Mapping[int, str]] | None = None
) -> Iterator[Line]:
    """Each sink's query as a tree, in lines; ``queries`` are the parts of a plan by their sinks' names.

    ``is_batch``: all rows are read at once, as those of bounded input are.  ``obstacles``: why nodes do not run in
    real-time mode, by query and node, where that is the mode.
    """
    for name, plan in queries.items():
        query = _query(plan, is_batch, is_real_time=obstacles is not None)
        executions = execute_nodes(query)
        stateful = any(e.states for e in executions.values())
        against = {} if obstacles is None else obstacles[name]
        how = "batch" if is_batch else "stream" if obstacles is None else _real_time(against)
        yield Line("", f"query {name}", f"{how}; {_state(query, stateful)}")
        root: ExecNode = plan.sinks[0]

        def label(
            node: ExecNode,
            plan: Plan = plan,
            executions: Mapping[int, Execution] = executions,
            against: Mapping[int, str] = against,
        ) -> Label[ExecNode]:
            execution = executions[node.id]
            engine = " ".join(filter(None, (execution.engine, execution.by)))
            refused = [f"not in real-time mode: {against[node.id]}"] if node.id in against else []
            return Label(f"{node.id} {_name(node)}", engine, [*refused, *_details(execution)], plan.inputs(node))

        yield from draw(root, label)


def _real_time(against: Mapping[int, str]) -> str:
    if not against:
        return "real-time"
    return f"real-time mode refuses {len(against)} node{'s' if len(against) > 1 else ''}"


def _query(plan: Plan, is_batch: bool, *, is_real_time: bool) -> QueryPlan:
    return QueryPlan(plan, is_batch, folds_changes(plan, {}) if is_batch else True, is_real_time)


def _state(query: QueryPlan, stateful: bool) -> str:
    if not stateful:
        return "no state"
    if query.is_batch:
        return "state in memory, of one key at a time"
    return f"state in RocksDB, encoded as {'Avro' if query.obstacle or query.is_real_time else 'UnsafeRow'}"


def physical_json(
    queries: Mapping[str, Plan], *, is_batch: bool, obstacles: Mapping[str, Mapping[int, str]] | None = None
) -> list[dict[str, Any]]:
    """One object a query; the parameters are those of :func:`physical_lines`."""
    found: list[dict[str, Any]] = []
    for name, plan in queries.items():
        query = _query(plan, is_batch, is_real_time=obstacles is not None)
        executions = execute_nodes(query)
        nodes = [{"id": n.id, "type": n.type, **_as_json(executions[n.id])} for n in plan.nodes]
        encoding = None if is_batch else "avro" if query.obstacle or query.is_real_time else "unsaferow"
        mode = "batch" if is_batch else "stream"
        if obstacles is not None:
            mode = "real-time"
            nodes = [{**node, "refused": obstacles[name].get(node["id"])} for node in nodes]
        found.append({"query": name, "mode": mode, "encoding": encoding, "nodes": nodes})
    return found


def is_batch_by_default(plan: Plan) -> bool:
    """Whether a plan is run as a batch where no mode is asked for, as far as it defines its tables."""
    try:
        return is_bounded(plan, {})
    except TableError:
        return False


def executions_by_default(plan: Plan) -> dict[int, Execution]:
    """How each node of a plan is run where no mode is asked for."""
    is_batch = is_batch_by_default(plan)
    parts = queries_of(plan).values()
    queries = (_query(part, is_batch, is_real_time=False) for part in parts)
    return {id: execution for query in queries for id, execution in execute_nodes(query).items()}


def execute_nodes(query: QueryPlan) -> dict[int, Execution]:
    """How each node of a query is run.  Raises :class:`UnsupportedError` for nodes that are not."""
    check_nodes(query.plan)
    known = translators()
    return {node.id: known[type(node)].runs(node, query) for node in query.plan.nodes}


def _name(node: ExecNode) -> str:
    return (node.description or node.type).partition("(")[0]


def _details(execution: Execution) -> list[str]:
    details = [execution.why]
    if execution.shuffle is not None:
        keys = ", ".join(execution.shuffle)
        details.append(f"shuffle: by the hash of {keys}" if keys else "shuffle: all rows into one partition")
    return details + [f"state {state}" for state in execution.states]


def _as_json(execution: Execution) -> dict[str, Any]:
    shuffle = None if execution.shuffle is None else list(execution.shuffle)
    return {
        "engine": execution.engine,
        "by": execution.by,
        "why": execution.why,
        "shuffle": shuffle,
        "states": [to_builtins(state) for state in execution.states],
    }

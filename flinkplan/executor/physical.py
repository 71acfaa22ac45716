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
from .execution import Execution, QueryPlan
from .registry import check_nodes, translators


def physical_lines(queries: Mapping[str, Plan]) -> Iterator[Line]:
    """Each sink's query as a tree, in lines; ``queries`` are the parts of a plan by their sinks' names."""
    for name, plan in queries.items():
        query = QueryPlan(plan)
        executions = execute_nodes(query)
        stateful = any(e.states for e in executions.values())
        encoding = "Avro" if query.obstacle else "UnsafeRow"
        yield Line("", f"query {name}", f"state in RocksDB, encoded as {encoding}" if stateful else "no state")
        root: ExecNode = plan.sinks[0]

        def label(
            node: ExecNode, plan: Plan = plan, executions: Mapping[int, Execution] = executions
        ) -> Label[ExecNode]:
            execution = executions[node.id]
            engine = " ".join(filter(None, (execution.engine, execution.by)))
            return Label(f"{node.id} {_name(node)}", engine, _details(execution), plan.inputs(node))

        yield from draw(root, label)


def physical_json(queries: Mapping[str, Plan]) -> list[dict[str, Any]]:
    """One object a query."""
    found = []
    for name, plan in queries.items():
        query = QueryPlan(plan)
        executions = execute_nodes(query)
        nodes = [{"id": n.id, "type": n.type, **_as_json(executions[n.id])} for n in plan.nodes]
        found.append({"query": name, "encoding": "avro" if query.obstacle else "unsaferow", "nodes": nodes})
    return found


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

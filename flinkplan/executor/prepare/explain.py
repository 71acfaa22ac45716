"""What runs each node of a plan on Spark, and why, for people: the steps of a :class:`.JobPlan` as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...plan.explain import Label, Line, draw
from ...plan.nodes import ExecNode
from ...plan.record import to_builtins
from .checks import check_nodes
from .job_plan import JobPlan
from .query import QueryPlan
from .real_time import obstacles
from .steps import Step


def physical_lines(job: JobPlan) -> Iterator[Line]:
    """Each query as a tree, in lines.  Raises :class:`UnsupportedError` for nodes that are not executed."""
    check_nodes(job.plan)
    for name, query in job.queries.items():
        against = obstacles(query) if query.is_real_time else {}
        yield Line("", f"query {name}", f"{_mode(query, against)}; {_state(query)}")
        root: ExecNode = query.plan.sinks[0]

        def label(node: ExecNode, query: QueryPlan = query, against: dict[int, str] = against) -> Label[ExecNode]:
            step = query.step(node)
            refused = [f"not in real-time mode: {against[node.id]}"] if node.id in against else []
            details = [*refused, *_details(step), *(line for each in step.runs_before for line in _before(each))]
            return Label(f"{node.id} {_name(node)}", engine_of(step), details, query.plan.inputs(node))

        yield from draw(root, label)


def physical_json(job: JobPlan) -> list[dict[str, Any]]:
    """One object a query; raises as :func:`physical_lines`."""
    check_nodes(job.plan)
    return [_query_json(name, query) for name, query in job.queries.items()]


def engine_of(step: Step) -> str:
    """What runs a node, in short."""
    return " ".join(filter(None, (step.engine, step.by)))


def _mode(query: QueryPlan, against: dict[int, str]) -> str:
    if query.is_batch:
        return "batch"
    if not query.is_real_time:
        return "stream"
    if not against:
        return "real-time"
    return f"real-time mode refuses {len(against)} node{'s' if len(against) > 1 else ''}"


def _state(query: QueryPlan) -> str:
    if not any(True for _ in query.operators):
        return "no state"
    if query.is_batch:
        return "state in memory, of one key at a time"
    return f"state in RocksDB, encoded as {'UnsafeRow' if query.has_native_state else 'Avro'}"


def _query_json(name: str, query: QueryPlan) -> dict[str, Any]:
    nodes = [{"id": node.id, "type": node.type, **_step_json(query.step(node))} for node in query.plan.nodes]
    encoding = None if query.is_batch else "unsaferow" if query.has_native_state else "avro"
    mode = "batch" if query.is_batch else "stream"
    if query.is_real_time:
        mode, against = "real-time", obstacles(query)
        nodes = [{**node, "refused": against.get(node["id"])} for node in nodes]
    return {"query": name, "mode": mode, "encoding": encoding, "nodes": nodes}


def _name(node: ExecNode) -> str:
    return (node.description or node.type).partition("(")[0]


def _details(step: Step) -> list[str]:
    details = [step.why]
    if step.shuffle is not None:
        keys = ", ".join(step.shuffle)
        details.append(f"shuffle: by the hash of {keys}" if keys else "shuffle: all rows into one partition")
    return [*details, *step.notes, *(f"state {state}" for state in step.states)]


def _before(step: Step) -> list[str]:
    why, *details = _details(step)
    return [f"before it {engine_of(step)}: {why}", *details]


def _step_json(step: Step) -> dict[str, Any]:
    shuffle = None if step.shuffle is None else list(step.shuffle)
    described = {
        "engine": step.engine,
        "by": step.by,
        "why": step.why,
        "shuffle": shuffle,
        **({"notes": list(step.notes)} if step.notes else {}),
        "states": [to_builtins(state) for state in step.states],
    }
    return {**described, "before": [_step_json(each) for each in step.runs_before]} if step.runs_before else described

"""What runs a job is what ``explain --physical`` and the page of its plan say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from flinkplan.cli.pages.plan_page import plan_page
from flinkplan.executor.connectors import is_bounded
from flinkplan.executor.context import Mode
from flinkplan.executor.jobs.job import Job
from flinkplan.executor.jobs.queries import BatchQuery
from flinkplan.executor.parts import queries_of
from flinkplan.executor.physical import physical_json
from flinkplan.executor.real_time import obstacles, real_time_query
from flinkplan.plan.document import Plan

Engines = Mapping[int, str]
"""What runs the nodes of a query, by their ids: the engine, and a kernel's class."""


def differences(plan: Plan, job: Job, *, page: bool = True) -> list[str]:
    """Where a job of a plan has been built otherwise than is told of it; ``page``: nor does its page say so."""
    reported = _reported(plan, job)
    found = [
        f"query {query}, node {id}: explained as {explained[id]}, built as {engine}"
        for query, engines in _built(job).items()
        for explained in (reported[query],)
        for id, engine in engines.items()
        if id in explained and explained[id] != engine
    ]
    return [*found, *(_on_page(plan) if page else ())]


def _built(job: Job) -> dict[str, Engines]:
    return {query: {id: _engine(*built) for id, built in engines.items()} for query, engines in job.built.items()}


def _reported(plan: Plan, job: Job) -> dict[str, Engines]:
    queries = queries_of(plan)
    against = None
    if job.mode is Mode.REAL_TIME:
        against = {name: obstacles(real_time_query(query)) for name, query in queries.items()}
    is_batch = any(isinstance(query, BatchQuery) for query in job.queries)
    reported = physical_json(queries, is_batch=is_batch, obstacles=against)
    return {query["query"]: {n["id"]: _engine(n["engine"], n["by"]) for n in query["nodes"]} for query in reported}


def _engine(engine: str, by: str) -> str:
    return f"{engine} {by}" if engine == "kernel" else engine


def _on_page(plan: Plan) -> Iterator[str]:
    """Where the page of a plan says something else than its text."""
    queries = queries_of(plan)
    lines: dict[str, str] = {}
    for query in physical_json(queries, is_batch=is_bounded(plan, {})):
        lines |= {str(n["id"]): f"{n['engine']} {n['by']}".strip() for n in query["nodes"]}
    for node in plan_page(plan, "plan").nodes:
        rows = next((s.rows for s in node.sections if s.head == "On Spark"), ())
        shown = dict((row[0], row[1]) for row in rows).get("by", "")
        if shown != lines[node.id]:
            yield f"node {node.id}: the text says {lines[node.id]}, the page {shown}"

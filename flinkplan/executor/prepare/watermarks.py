"""Which operators wait for watermarks, and where these come from."""

from __future__ import annotations

from collections.abc import Callable

from ...plan.clock import is_by_clock, tells_time
from ...plan.connectors.partition_commits import commits_by_watermark
from ...plan.nodes import ExecNode, Sink, TableSourceScan, WatermarkAssigner, WindowOperator
from .query import QueryPlan
from .steps import TIMER


def row_by_row(node: ExecNode, query: QueryPlan) -> str | None:
    """The obstacle in real-time mode of nodes that can always see one row at a time: none."""
    return None


def by_watermark(node: ExecNode, query: QueryPlan) -> str | None:
    """The obstacle of nodes whose rows are due at times: what stands before them must pass watermarks on.

    The clock takes the place of watermarks where all of a query goes by it.
    """
    waiting = [n for n in query.plan.nodes if waits_for_watermark(n, query)]
    if len({is_by_clock(n, query.plan) for n in waiting}) > 1:
        return "some operators of the query go by the clock, others by watermarks"
    announces = _announces(query)
    for source in query.plan.upstream(query.plan.inputs(node), announces):
        if not announces(source) and query.step(source).states:
            return f"no watermark comes behind node {source.id}"
    return united(node, query) if len(query.plan.inputs(node)) > 1 else None


def united(node: ExecNode, query: QueryPlan) -> str | None:
    """The obstacle of nodes whose inputs come together in one union."""
    for source in query.plan.upstream(query.plan.inputs(node)):
        if query.step(source).states:
            return f"Spark brings no rows together behind an operator with state, as node {source.id} is"
    return None


def waits_for_watermark(node: ExecNode, query: QueryPlan) -> bool:
    """Whether a node's rows are due at times."""
    return TIMER in query.step(node).states


def uses_watermark(query: QueryPlan) -> bool:
    """Whether anything in a query waits for watermarks."""
    return any(
        isinstance(node, WindowOperator)
        or any(state.is_timed for state in query.step(node).states)
        or (isinstance(node, Sink) and _commits_by_watermark(node))
        for node in query.plan.nodes
    )


def _commits_by_watermark(sink: Sink) -> bool:
    table = sink.dynamic_table_sink.table.resolved_table
    return table is not None and commits_by_watermark(table.options or {}, table.partition_keys or ())


def announcing(node: ExecNode, query: QueryPlan) -> list[ExecNode]:
    """The nodes whose watermarks come to ``node``."""
    announces = _announces(query)
    return [source for source in query.plan.upstream(query.plan.inputs(node), announces) if announces(source)]


def _announces(query: QueryPlan) -> Callable[[ExecNode], bool]:
    """Whether watermarks come from a node among its rows: from assigners, or scans that tell the time in place of them,
    or from one that has waited for them itself."""
    telling = TableSourceScan if tells_time(query.plan) else WatermarkAssigner
    return lambda node: isinstance(node, telling) or waits_for_watermark(node, query)

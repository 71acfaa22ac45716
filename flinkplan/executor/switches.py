"""Where a table of several sources goes on with the last one, and what waits for that (FLIP-326)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..plan.connectors.hybrid import BY_CLOCK
from ..plan.document import Plan
from ..plan.nodes import ExecNode, TableSourceScan, TemporalJoin, WatermarkAssigner
from .context import TranslationContext
from .tables import Table, table_of


def switch_of(scan: TableSourceScan, context: TranslationContext) -> Any:
    """The Java ``Switch`` of a scan of such a table; one a query."""
    switches: dict[int, Any] = context.shared.setdefault("switches", {})
    if scan.id not in switches:
        switches[scan.id] = context.runtime.source.Switch(scan.scan_table_source.table.identifier)
    return switches[scan.id]


def switches_to_clock(table: Table | None) -> bool:
    """Whether the watermark of a table is the clock once its last source is read."""
    return table is not None and table.options.get(BY_CLOCK, "false").lower() == "true"


def is_timed_by_clock(scan: TableSourceScan, context: TranslationContext) -> bool:
    """Whether a scan has such a table, and its watermark is asked for."""
    assigners = (node for node in context.plan.nodes if isinstance(node, WatermarkAssigner))
    table = table_of(scan.scan_table_source.table, context.variables)
    return switches_to_clock(table) and any(scan_below(node, context.plan) is scan for node in assigners)


def scan_below(node: ExecNode, plan: Plan) -> TableSourceScan | None:
    """The scan that a watermark assigner stands on."""
    for source in plan.inputs(node):
        return source if isinstance(source, TableSourceScan) else scan_below(source, plan)
    return None


def snapshots_awaited(scan: TableSourceScan, plan: Plan) -> Iterator[TableSourceScan]:
    """The scans of the tables whose snapshots must be there before the rows of ``scan`` are joined with them."""
    for node in plan.nodes:
        if isinstance(node, TemporalJoin) and node.is_processing_time:
            probe, build = plan.inputs(node)
            if scan in _scans(probe, plan):
                yield from _scans(build, plan)


def _scans(node: ExecNode, plan: Plan) -> list[TableSourceScan]:
    """The scans that a node's rows come from."""
    return [source for source in plan.upstream([node]) if isinstance(source, TableSourceScan)]

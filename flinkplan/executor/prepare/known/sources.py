"""Which tables the rows of a node come from, and which of these others wait for (FLIP-326)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ....plan.connectors.hybrid import BY_CLOCK
from ....plan.document import Plan
from ....plan.nodes import ExecNode, TableSourceScan, TemporalJoin, WatermarkAssigner
from ...connectors.tables import defined_options


def scan_below(node: ExecNode, plan: Plan) -> TableSourceScan | None:
    """The scan that a watermark assigner stands on."""
    for source in plan.inputs(node):
        return source if isinstance(source, TableSourceScan) else scan_below(source, plan)
    return None


def switches_to_clock(scan: TableSourceScan, variables: Mapping[str, str]) -> bool:
    """Whether the watermark of a table is the clock once its last source is read."""
    options = defined_options(scan.scan_table_source.table, variables)
    return options.get(BY_CLOCK, "false").lower() == "true"


def is_timed_by_clock(scan: TableSourceScan, plan: Plan, variables: Mapping[str, str]) -> bool:
    """Whether a scan has such a table, and its watermark is asked for."""
    assigners = (node for node in plan.nodes if isinstance(node, WatermarkAssigner))
    return switches_to_clock(scan, variables) and any(scan_below(node, plan) is scan for node in assigners)


def snapshots_awaited(scan: TableSourceScan, plan: Plan) -> Iterator[TableSourceScan]:
    """The scans of the tables whose snapshots must be there before the rows of ``scan`` are joined with them."""
    for node in plan.nodes:
        if isinstance(node, TemporalJoin) and node.is_processing_time:
            probe, build = plan.inputs(node)
            if scan in scans_of(probe, plan):
                yield from scans_of(build, plan)


def scans_of(node: ExecNode, plan: Plan) -> list[TableSourceScan]:
    """The scans that a node's rows come from."""
    return [source for source in plan.upstream([node]) if isinstance(source, TableSourceScan)]

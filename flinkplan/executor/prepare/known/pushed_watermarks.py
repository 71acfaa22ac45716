"""Watermarks that a plan leaves to its sources, made by an operator behind them instead."""

from __future__ import annotations

from ....plan.document import Edge, Plan
from ....plan.nodes import ExecNode, TableSourceScan, WatermarkAssigner
from ....plan.record import replace
from ....plan.rex import input_refs
from ....plan.settings import IDLE_TIMEOUT
from ....plan.specs import WatermarkPushDown


def pushed_watermark(node: TableSourceScan) -> WatermarkPushDown | None:
    """What a scan says of the watermarks that its source makes."""
    abilities = node.scan_table_source.abilities or ()
    return next((ability for ability in abilities if isinstance(ability, WatermarkPushDown)), None)


def with_assigners(plan: Plan) -> Plan:
    """The plan with a watermark assigner behind each scan whose source makes the watermarks itself.

    Of a source with a single partition they are the same; of several Flink takes the lowest, each for itself.
    Source: ``WatermarkPushDownSpec``.
    """
    next_id = max((node.id for node in plan.nodes), default=0) + 1
    for node in plan.nodes:
        if isinstance(node, TableSourceScan) and (pushed := pushed_watermark(node)) is not None:
            plan = _behind(plan, node, _assigner(next_id, node, pushed))
            next_id += 1
    return plan


def _assigner(id_: int, scan: TableSourceScan, pushed: WatermarkPushDown) -> WatermarkAssigner:
    timeout = int(pushed.idle_timeout_millis)
    return WatermarkAssigner(
        id=id_,
        version=1,
        configuration={IDLE_TIMEOUT: f"{timeout} ms"} if timeout > 0 else None,
        output_type=scan.output_type,
        watermark_expr=pushed.watermark_expr,
        rowtime_field_index=_rowtime(scan, pushed),
    )


def _rowtime(scan: TableSourceScan, pushed: WatermarkPushDown) -> int:
    """The field of the rowtime: the scan's own, else that of which the rowtime behind the scan is made."""
    own = [i for i, field in enumerate(scan.fields) if field.type.is_rowtime]
    return min(own or input_refs(pushed.rowtime_expr or pushed.watermark_expr))


def _behind(plan: Plan, scan: ExecNode, new: ExecNode) -> Plan:
    place = plan.nodes.index(scan) + 1
    nodes = (*plan.nodes[:place], new, *plan.nodes[place:])
    edges = tuple(replace(edge, source=new.id) if edge.source == scan.id else edge for edge in plan.edges)
    return Plan(plan.flink_version, nodes, (*edges, Edge(scan.id, new.id)))

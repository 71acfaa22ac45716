"""Where event time begins."""

from __future__ import annotations

from collections.abc import Mapping

from ....plan.nodes import TableSourceScan, WatermarkAssigner
from ...connectors.tables import defined_options
from ..known.pushed_watermarks import pushed_watermark
from ..known.sources import scan_below
from ..query import QueryPlan, chooser
from ..steps import Native
from ..watermarks import row_by_row

_EMIT_STRATEGY = "scan.watermark.emit.strategy"


class Watermarked(Native, kw_only=True):
    """Each row carries Flink's watermark.

    ``on_event``: it is announced behind each row that moves it, not from time to time.
    """

    on_event: bool


@chooser(WatermarkAssigner, real_time=row_by_row)
def watermark_assigner(node: WatermarkAssigner, query: QueryPlan) -> Watermarked:
    """Derive the watermark from each row."""
    scan = scan_below(node, query.plan)
    return Watermarked(
        operators="Project, EventTimeWatermark",
        why="each row carries Flink's watermark",
        on_event=scan is not None and _emit_strategy(scan, query.variables) == "on-event",
    )


def _emit_strategy(scan: TableSourceScan, variables: Mapping[str, str]) -> str | None:
    """When watermarks are announced: as the plan says of those that the source makes, else as the table does."""
    pushed = pushed_watermark(scan)
    params = pushed.watermark_params if pushed is not None else None
    own = params.get("emitStrategy") if isinstance(params, Mapping) else None
    strategy = own or defined_options(scan.scan_table_source.table, variables).get(_EMIT_STRATEGY)
    return str(strategy).lower().replace("_", "-") if strategy else None

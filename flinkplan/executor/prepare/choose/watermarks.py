"""Where event time begins."""

from __future__ import annotations

from ....plan.nodes import WatermarkAssigner
from ...connectors.tables import defined_options
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
    strategy = "on-periodic"
    if scan is not None:
        options = defined_options(scan.scan_table_source.table, query.variables)
        strategy = options.get(_EMIT_STRATEGY, strategy)
    return Watermarked(
        operators="Project, EventTimeWatermark",
        why="each row carries Flink's watermark",
        on_event=strategy.lower() == "on-event",
    )

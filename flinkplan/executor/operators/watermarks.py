"""Where event time begins."""

from __future__ import annotations

from ...plan.nodes import ExecNode, TableSourceScan, WatermarkAssigner
from ...plan.record import replace
from ..context import TranslationContext
from ..event_time import assign_watermarks
from ..execution import native
from ..registry import translator
from ..stream import Stream
from ..tables import table_of


@translator(
    WatermarkAssigner,
    runs=lambda node, query: native("Project, EventTimeWatermark", "each row carries Flink's watermark"),
)
def watermark_assigner(node: WatermarkAssigner, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Derive the watermark from each row."""
    from pyspark.sql import functions as F

    (stream,) = inputs
    watermark = F.unix_millis(context.expression(node.watermark_expr, stream))
    on_event = _is_on_event(node, context)
    timed = assign_watermarks(stream, stream.column(node.rowtime_field_index), watermark, context, on_event=on_event)
    return replace(timed.select(timed.columns, node.output_type), assigner=node.id)


EMIT_STRATEGY = "scan.watermark.emit.strategy"


def _is_on_event(node: ExecNode, context: TranslationContext) -> bool:
    """Whether a table announces the watermark with each row, not from time to time."""
    for source in context.plan.inputs(node):
        if isinstance(source, TableSourceScan):
            options = table_of(source.scan_table_source.table, context.variables).options
            return options.get(EMIT_STRATEGY, "on-periodic").lower() == "on-event"
        return _is_on_event(source, context)
    return False

"""Where event time begins."""

from __future__ import annotations

from ...plan.nodes import WatermarkAssigner
from ...plan.record import replace
from ..context import TranslationContext
from ..event_time import assign_watermarks
from ..execution import native
from ..registry import translator
from ..stream import Stream


@translator(
    WatermarkAssigner,
    runs=lambda node, query: native("Project, EventTimeWatermark", "each row carries Flink's watermark"),
)
def watermark_assigner(node: WatermarkAssigner, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Derive the watermark from each row."""
    from pyspark.sql import functions as F

    (stream,) = inputs
    watermark = F.unix_millis(context.expression(node.watermark_expr, stream))
    timed = assign_watermarks(stream, stream.column(node.rowtime_field_index), watermark, context)
    return replace(timed.select(timed.columns, node.output_type), assigner=node.id)

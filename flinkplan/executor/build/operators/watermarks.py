"""Where event time begins."""

from __future__ import annotations

from ....plan.nodes import WatermarkAssigner
from ...jvm.spark import F
from ...prepare.choose.watermarks import Watermarked
from ..context import TranslationContext
from ..registry import builder
from ..stream import Stream
from ..time.event_time import assign_watermarks, never_late


@builder(Watermarked, WatermarkAssigner)
def watermark_assigner(
    node: WatermarkAssigner, step: Watermarked, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """Derive the watermark from each row."""
    (stream,) = inputs
    if step.at_end:
        return never_late(stream, context).select(stream.columns, node.output_type)
    watermark = F.unix_millis(context.expression(node.watermark_expr, stream))
    rowtime = stream.column(node.rowtime_field_index)
    timed = assign_watermarks(stream, rowtime, watermark, context, on_event=step.on_event, source=node.id)
    return timed.select(timed.columns, node.output_type)

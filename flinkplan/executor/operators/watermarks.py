"""Where event time begins."""

from __future__ import annotations

from ...plan.nodes import ExecNode, WatermarkAssigner
from ...plan.record import replace
from ..context import TranslationContext
from ..event_time import assign_watermarks
from ..execution import native
from ..registry import row_by_row, translator
from ..source_watermarks import source_of
from ..stream import Stream


@translator(
    WatermarkAssigner,
    runs=lambda node, query: native("Project, EventTimeWatermark", "each row carries Flink's watermark"),
    real_time=row_by_row,
)
def watermark_assigner(node: WatermarkAssigner, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Derive the watermark from each row."""
    from pyspark.sql import functions as F

    (stream,) = inputs
    watermark = F.unix_millis(context.expression(node.watermark_expr, stream))
    on_event = _is_on_event(node, context)
    rowtime = stream.column(node.rowtime_field_index)
    timed = assign_watermarks(stream, rowtime, watermark, context, on_event=on_event, source=node.id)
    plan = context.whole_plan
    sources = frozenset(source.id for source in plan.upstream([node]) if not plan.inputs(source))
    return replace(timed.select(timed.columns, node.output_type), sources=sources)


EMIT_STRATEGY = "scan.watermark.emit.strategy"


def _is_on_event(node: ExecNode, context: TranslationContext) -> bool:
    """Whether a table announces the watermark with each row, not from time to time."""
    table = source_of(node, context)
    return table is not None and table.options.get(EMIT_STRATEGY, "on-periodic").lower() == "on-event"

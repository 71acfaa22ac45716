"""ORDER BY a time attribute."""

from __future__ import annotations

from ....plan.nodes import TemporalSort
from ...jvm.spark import F
from ...prepare.choose.sorts import KernelSort
from ..context import TranslationContext
from ..kernels import schema_of
from ..registry import builder
from ..stream import ROW, TIME, Stream
from ..time.event_time import with_event_time
from ..windows.kernels import emitted, row_order, run_timed, timed_input


@builder(KernelSort, TemporalSort)
def temporal_sort(
    node: TemporalSort, step: KernelSort, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """Emit rows by time, once the watermark has reached them; in processing time each batch in order."""
    (stream,) = inputs
    fields = node.order_by.fields
    stream = stream if step.by_clock else with_event_time(stream)
    time = F.current_timestamp() if step.by_clock else stream.column(fields[0].index)
    frame = timed_input(stream, (), [F.unix_millis(time).alias(TIME), F.struct(*stream.columns).alias(ROW)])
    schema = schema_of(stream.type.field_types)
    order = row_order(context, schema, fields)
    result = run_timed(context, step, frame, 1, by_clock=step.by_clock, row=schema, rowOrder=order)
    return emitted(stream, result, node.output_type, event_time=not step.by_clock)

"""ORDER BY a time attribute."""

from __future__ import annotations

from ...plan.nodes import TemporalSort
from ..context import TranslationContext
from ..event_time import TIME, with_event_time
from ..execution import TIMER, Execution, QueryPlan, kernel, until_watermark
from ..kernels import schema_of
from ..registry import by_watermark, translator
from ..stream import Stream
from ..window_kernels import ROW, emitted, row_order, run_timed, timed_input


def _runs(node: TemporalSort, query: QueryPlan) -> Execution:
    rows = until_watermark("ListState", "rows", "rows that wait")
    last = until_watermark("ValueState", "last", "the time of the last row that came out")
    return kernel(node, query, "time.TemporalSort", "rows come out when the watermark reaches them", rows, last, TIMER)


@translator(TemporalSort, runs=_runs, real_time=by_watermark)
def temporal_sort(node: TemporalSort, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Emit rows by time, once the watermark has reached them; in processing time each batch in order."""
    from pyspark.sql import functions as F

    (stream,) = inputs
    fields = node.order_by.fields
    rowtime = stream.type.field_types[fields[0].index].is_rowtime
    stream = with_event_time(stream) if rowtime else stream
    time = stream.column(fields[0].index) if rowtime else F.current_timestamp()
    frame = timed_input(stream, (), [F.unix_millis(time).alias(TIME), F.struct(*stream.columns).alias(ROW)])
    kernel = context.runtime.time.TemporalSort(
        context.java_schema(frame.schema),
        context.java_schema(schema_of(node.output_type.field_types)),
        frame.columns.index(TIME),
        frame.columns.index(ROW),
        row_order(context, schema_of(stream.type.field_types), fields),
    )
    if not rowtime and not context.tells_time:
        kernel.inProcessingTime()
    result = run_timed(context, frame, 1, kernel)
    return emitted(stream, result, node.output_type, event_time=rowtime)

"""ORDER BY a time attribute."""

from __future__ import annotations

from ...plan.nodes import TemporalSort
from ..context import TranslationContext
from ..event_time import with_event_time
from ..execution import TIMER, Execution, QueryPlan, kernel, until_watermark
from ..kernels import schema_of
from ..registry import by_watermark, translator
from ..stream import ROW, TIME, Stream
from ..window_kernels import emitted, row_order, run_timed, timed_input


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
    schema = schema_of(stream.type.field_types)
    order = row_order(context, schema, fields)
    result = run_timed(context, frame, 1, "time.TemporalSort", by_clock=not rowtime, row=schema, rowOrder=order)
    return emitted(stream, result, node.output_type, event_time=rowtime)

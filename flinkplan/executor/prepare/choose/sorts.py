"""ORDER BY a time attribute."""

from __future__ import annotations

from ....plan.nodes import TemporalSort
from ..query import QueryPlan, chooser
from ..steps import TIMER, Kernel, until_watermark
from ..watermarks import by_watermark


class KernelSort(Kernel, kw_only=True):
    """Rows that wait for their turn; ``by_clock``: in processing time, else in event time."""

    by_clock: bool


@chooser(TemporalSort, real_time=by_watermark)
def temporal_sort(node: TemporalSort, query: QueryPlan) -> KernelSort:
    """Emit rows by time, once the watermark has reached them; in processing time each batch in order."""
    first = node.order_by.fields[0].index
    rows = until_watermark("ListState", "rows", "rows that wait")
    last = until_watermark("ValueState", "last", "the time of the last row that came out")
    return KernelSort(
        kernel="time.TemporalSort",
        why="rows come out when the watermark reaches them",
        shuffle=query.keys(node),
        states=(rows, last, TIMER),
        by_clock=not query.input(node).output_type.field_types[first].is_rowtime,
    )

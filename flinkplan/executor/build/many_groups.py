"""Groups of which there are nearly as many as rows: their rows are brought together before they are aggregated.

Spark aggregates the rows of each task first.  Where hardly two of them are of one group, that takes as long as all else
and leaves as many rows; whether it is so is seen from those of the first task.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...plan.record import replace
from ..prepare.choose.aggregates import MANY_GROUPS
from .context import TranslationContext
from .stream import Stream


def brought_together(stream: Stream, grouping: Sequence[int], context: TranslationContext) -> Stream:
    """The rows of a stream, those of a group in one partition if most of them are of one row."""
    keys = [stream.column(k) for k in grouping]
    if context.runtime.batch.Sample.distinct(stream.frame._jdf, [key._jc for key in keys]) < MANY_GROUPS:
        return stream
    return replace(stream, frame=stream.frame.repartition(*keys))

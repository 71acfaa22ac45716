"""Groups of which there are nearly as many as rows: their rows are brought together before they are aggregated.

Spark aggregates the rows of each task first.  Where hardly two of them are of one group, that takes as long as all else
and leaves as many rows; whether it is so is seen from those of the first task, in input that is large enough to ask.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...plan.nodes import ExecNode, LookupJoin, TableSourceScan, WatermarkAssigner
from ...plan.record import replace
from ..prepare.known.input_size import is_large
from ..prepare.known.row_order import PASSING
from .context import TranslationContext
from .kernels import key_type
from .stream import Stream

_SHARE = 0.8
"""Of the first task's rows, so many are of a group that none before them is of."""


def brought_together(stream: Stream, grouping: Sequence[int], source: ExecNode, context: TranslationContext) -> Stream:
    """The rows of ``source``, those of a group in one partition if most of them are of one row."""
    if not grouping or any(key_type(t) != t for t in (stream.type.field_types[k] for k in grouping)):
        return stream
    upstream = list(context.plan.upstream([source]))
    if not is_large(upstream, context.variables) or not all(map(_is_at_hand, upstream)):
        return stream
    keys = [stream.column(k) for k in grouping]
    if context.runtime.batch.Sample.distinct(stream.frame._jdf, [key._jc for key in keys]) < _SHARE:
        return stream
    return replace(stream, frame=stream.frame.repartition(*keys))


def _is_at_hand(node: ExecNode) -> bool:
    """Whether a node yields the first task's rows without having read those of others, or asked a database."""
    return isinstance(node, (*PASSING, TableSourceScan, WatermarkAssigner)) and not isinstance(node, LookupJoin)

"""The connector ``hybrid``: sources that are read in turn.

In a stream the first micro-batch holds all of the sources that end, as far as they have ended, and what comes from the
last one follows.
"""

from __future__ import annotations

from functools import reduce
from itertools import repeat
from typing import TYPE_CHECKING

from ....plan.nodes import TableSourceScan
from ....plan.record import replace
from ...connectors.hybrid import tables_in_turn
from ...connectors.tables import Table
from ...connectors.turns import Turn
from ...jvm.spark import F
from ...prepare.known.sources import is_timed_by_clock
from ...prepare.modes import Mode
from ..context import TranslationContext
from ..stream import CLOCKED, INSERT, KIND, SEQUENCE, Stream
from ..time.switches import switch_of
from . import builder_of
from .base import TableBuilder, table_builder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@table_builder
class Hybrid(TableBuilder):
    """Sources of any other connectors: all end but the last one."""

    name = "hybrid"

    def read(self, table: Table, node: TableSourceScan, context: TranslationContext) -> Stream:
        tables = tables_in_turn(table)
        turns = [Turn.FIRST] * (len(tables) - 1) + [Turn.LAST if context.mode is not Mode.BOUNDED else Turn.ALONE]
        switch = None if context.is_batch else switch_of(node, context)
        streams = [
            builder_of(each).read(each, node, replace(context, turn=turn, switch=switch))
            for each, turn in zip(tables, turns, strict=True)
        ]
        changes = any(stream.changelog for stream in streams)
        clocked = (
            [stream is streams[-1] for stream in streams]
            if is_timed_by_clock(node, context.plan, context.variables)
            else repeat(None)
        )
        frames = map(_aligned, streams, repeat(changes), clocked)
        return Stream(reduce(lambda a, b: a.union(b), frames), node.output_type, changes)


def _aligned(stream: Stream, changes: bool, is_clocked: bool | None) -> DataFrame:
    """The rows with the same hidden columns; ``is_clocked``: their watermark is the clock, where any one's is."""

    kind = stream.frame[KIND] if stream.changelog else F.lit(INSERT).cast("tinyint").alias(KIND)
    clocked = [] if is_clocked is None else [F.lit(is_clocked).alias(CLOCKED)]
    return stream.frame.select(*stream.columns, *([kind] if changes else []), stream.frame[SEQUENCE], *clocked)

"""The connector ``hybrid``: sources that are read in turn.

In a stream the first micro-batch holds all of the sources that end, as far as they have ended, and what comes from the
last one follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import repeat
from typing import TYPE_CHECKING

from ...plan.connectors.hybrid import parts
from ...plan.nodes import TableSourceScan
from ...plan.record import replace
from ..context import Mode, TranslationContext, Turn
from ..errors import TableError
from ..stream import CLOCKED, INSERT, KIND, SEQUENCE, Stream
from ..switches import is_timed_by_clock, switch_of
from ..tables import Table
from . import find_connector
from .base import Connector, connector

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def _tables(table: Table) -> Sequence[Table]:
    """The tables of the sources, in turn."""
    return [
        replace(table, identifier=f"{table.identifier}, source {name}", options=options)
        for name, options in parts(table.options).items()
    ]


@connector
class Hybrid(Connector):
    """Sources of any other connectors: all end but the last one."""

    name = "hybrid"

    def check(self, table: Table, is_source: bool) -> None:
        *before, last = _tables(table)
        for each in (*before, last):
            find_connector(each).check(each, is_source)
        for each in before:
            if not find_connector(each).is_bounded(each):
                raise TableError(
                    "reading this source does not end, and others come behind it",
                    where=f"table {each.identifier}",
                    hint="put it last, or say where it ends",
                )
        if not find_connector(last).is_bounded(last) and not find_connector(last).can_wait(last):
            raise TableError(
                f"a source of '{last.options['connector']}' does not wait here until others have been read",
                where=f"table {last.identifier}",
                hint="those of kafka and upsert-kafka do, and of filesystem with formats of lines",
            )

    def is_bounded(self, table: Table) -> bool:
        return all(find_connector(each).is_bounded(each) for each in _tables(table))

    def may_last(self, table: Table) -> bool:
        return any(find_connector(each).may_last(each) for each in _tables(table)[:-1])

    def size(self, table: Table) -> int | None:
        sizes = [find_connector(each).size(each) for each in _tables(table)]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) else None

    def read(self, table: Table, node: TableSourceScan, context: TranslationContext) -> Stream:
        tables = _tables(table)
        turns = [Turn.FIRST] * (len(tables) - 1) + [Turn.LAST if context.mode is not Mode.BOUNDED else Turn.ALONE]
        switch = None if context.is_batch else switch_of(node, context)
        streams = [
            find_connector(each).read(each, node, replace(context, turn=turn, switch=switch))
            for each, turn in zip(tables, turns, strict=True)
        ]
        changes = any(stream.changelog for stream in streams)
        clocked = [stream is streams[-1] for stream in streams] if is_timed_by_clock(node, context) else repeat(None)
        frames = map(_aligned, streams, repeat(changes), clocked)
        return Stream(reduce(lambda a, b: a.union(b), frames), node.output_type, changes)


def _aligned(stream: Stream, changes: bool, is_clocked: bool | None) -> DataFrame:
    """The rows with the same hidden columns; ``is_clocked``: their watermark is the clock, where any one's is."""
    from pyspark.sql import functions as F

    kind = stream.frame[KIND] if stream.changelog else F.lit(INSERT).cast("tinyint").alias(KIND)
    clocked = [] if is_clocked is None else [F.lit(is_clocked).alias(CLOCKED)]
    return stream.frame.select(*stream.columns, *([kind] if changes else []), stream.frame[SEQUENCE], *clocked)

"""The watermarks that a moved job goes on from: those that operators of Flink have kept are those of their sources.

Source: Flink's ``SlicingWindowOperator`` and its like, which alone restore a watermark.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ...plan.document import Plan
from ...plan.nodes import ExecNode, WatermarkAssigner
from ...plan.record import Record
from ..build.time.event_time import SHIFT_MS
from ..prepare.known.source_names import source_names

FOLDER = "watermarks"
"""Where a query keeps the watermarks of several sources, as ``ReachedWatermarks.java`` calls it."""


class SourceWatermarks(Record):
    """The watermark of each source of event time (epoch milliseconds), by the id of its assigner; ``None``: unknown.

    ``others`` are watermarks that operators have of sources without an assigner.  ``new_wait``: sources of which it is
    unknown hold the query's back; else it stays where that of the others is.
    """

    names: Mapping[int, str]
    reached: Mapping[int, int | None]
    others: tuple[int, ...] = ()
    new_wait: bool = True

    @property
    def of_query(self) -> int:
        """The query's as Spark has it: the lowest that is known; 0 where an unknown one holds it back."""
        marks = (*self.reached.values(), *self.others)
        known = [mark for mark in marks if mark is not None]
        return min(known) + SHIFT_MS if known and (len(known) == len(marks) or not self.new_wait) else 0

    def write(self, query: Path, batch: int) -> None:
        """Keep those of several sources beside the progress of a query; a single one has the query's."""
        known = {self.names[number]: mark for number, mark in self.reached.items() if mark is not None}
        if len(self.reached) > 1 and known:
            (query / FOLDER).mkdir()
            (query / FOLDER / str(batch)).write_text(json.dumps(known))


def source_watermarks(plan: Plan, kept: Mapping[int, int]) -> SourceWatermarks:
    """The watermarks of the sources of a query; ``kept`` are those of operators by the ids of their nodes.

    That of an operator is the lowest of its sources', so a source has reached the highest of the operators behind it.
    """
    assigners = [node for node in plan.nodes if isinstance(node, WatermarkAssigner)]
    reached = {node.id: max((kept[n] for n in _behind(node, plan) if n in kept), default=None) for node in assigners}
    return SourceWatermarks(source_names(plan), reached, () if assigners else tuple(kept.values()))


def _behind(node: ExecNode, plan: Plan) -> set[int]:
    """The ids of the nodes that a node's rows reach."""
    pending, reached = list(plan.outputs(node)), set()
    while pending:
        output = pending.pop()
        if output.id not in reached:
            reached.add(output.id)
            pending += plan.outputs(output)
    return reached

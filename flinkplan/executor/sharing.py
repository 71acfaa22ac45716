"""What several nodes of a job's batches read: computed once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ..plan.document import Plan
from ..plan.nodes import ExecNode
from ..plan.record import replace
from .stream import Stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class SharedStreams:
    """The streams of the nodes of a plan that several others read, also those of other sinks.

    Spark keeps their rows in memory, and on disk as far as they do not fit, until they are released.
    """

    def __init__(self, plan: Plan) -> None:
        readers = Counter(edge.source for edge in plan.edges)
        self._ids = {node for node, count in readers.items() if count > 1}
        self.plan = plan
        self._streams: dict[tuple[int, bool], Stream] = {}
        self._frames: list[DataFrame] = []

    def find(self, node: ExecNode, folds: bool) -> Stream | None:
        """The stream of a node, if it was made before; ``folds``: where the changes of a key may come to one."""
        return self._streams.get((node.id, folds))

    def keep(self, node: ExecNode, folds: bool, stream: Stream) -> Stream:
        """The stream of a node, whose rows are kept if several read them."""
        if node.id not in self._ids:
            return stream
        frame = stream.frame.persist()
        self._frames.append(frame)
        kept = self._streams[node.id, folds] = replace(stream, frame=frame)
        return kept

    def release(self) -> None:
        """Keep rows no longer."""
        for frame in self._frames:
            frame.unpersist()

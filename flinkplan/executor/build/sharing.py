"""What several nodes of a job read: computed once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any

from ...plan.document import Plan
from ...plan.nodes import ExecNode, WatermarkAssigner
from ...plan.record import replace
from ..jvm.spark import sql
from .stream import Stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def _read_twice(plan: Plan) -> set[int]:
    """The ids of the nodes that several others read, or one several times."""
    readers = Counter(edge.source for edge in plan.edges)
    return {node for node, count in readers.items() if count > 1}


class SharedRows:
    """The rows of a streaming query that several of its operators read: computed once a micro-batch.

    Its sources and the numbers of its operators are those of a query that computes them for each reader, so that a
    checkpoint of one is one of the other.  Rows are kept in memory, and on disk as far as they do not fit, until the
    micro-batch is done.
    """

    def __init__(self, part: Plan, spark: SparkSession) -> None:
        self._ids = _read_twice(part)
        assert spark._jvm is not None
        self._spark = spark
        self._sharing = spark._jvm.flinkplan.runtime.sharing.Sharing(spark._jsparkSession)

    def share(self, frame: DataFrame) -> DataFrame:
        """The same rows; all who read this frame share them."""
        return self._frame(self._sharing.share(frame._jdf))

    def keep(self, node: ExecNode, stream: Stream) -> Stream:
        """The stream of a node, whose rows are shared if several read them.

        What an assigner makes of rows that have watermarks already is little.
        """
        if node.id not in self._ids or isinstance(node, WatermarkAssigner):
            return stream
        return replace(stream, frame=self.share(stream.frame))

    def settle(self, frame: DataFrame) -> DataFrame:
        """The whole query, where nothing is shared that one operator alone reads."""
        return self._frame(self._sharing.settle(frame._jdf))

    def writer(self, writer: Any) -> Any:
        """A Java writer of batches that releases their rows behind each."""
        return self._sharing.releasing(writer)

    def write(self, take: Callable[[DataFrame, int], None]) -> Callable[[DataFrame, int], None]:
        """The same of one in Python."""

        def taking(frame: DataFrame, batch: int) -> None:
            try:
                take(frame, batch)
            finally:
                self._sharing.release()

        return taking

    def _frame(self, dataset: Any) -> sql.DataFrame:

        return sql.DataFrame(dataset, self._spark)


class SharedStreams:
    """The streams of the nodes of a plan's batches that several others read, also those of other sinks.

    Spark keeps their rows in memory, and on disk as far as they do not fit, until they are released; not those of nodes
    that are ``cheap``, which it computes in less time for each reader.
    """

    def __init__(self, plan: Plan, is_cheap: Callable[[ExecNode], bool]) -> None:
        self._ids = {id for id in _read_twice(plan) if not is_cheap(plan.by_id[id])}
        self.plan = plan
        self._streams: dict[tuple[int, bool], Stream] = {}
        self._late_rows: dict[tuple[int, bool], Mapping[int, Any]] = {}
        self._computing = Lock()

    def find(self, node: ExecNode, folds: bool) -> Stream | None:
        """The stream of a node, if it was made before; ``folds``: where the changes of a key may come to one."""
        return self._streams.get((node.id, folds))

    def late_rows(self, node: ExecNode, folds: bool) -> Mapping[int, Any]:
        """The Java counters of late rows in the stream of a node that was made before, by node id."""
        return self._late_rows[node.id, folds]

    def keep(self, node: ExecNode, folds: bool, stream: Stream, late_rows: Mapping[int, Any]) -> Stream:
        """The stream of a node, whose rows are kept if several nodes read them.

        ``late_rows`` are the Java counters of late rows by node id.  Those of ``node`` and of the nodes before it are
        kept as well, so that each sink counts the late rows that it lacks.
        """
        if node.id not in self._ids:
            return stream
        counted = {source.id for source in self.plan.upstream([node])}
        self._late_rows[node.id, folds] = {id: rows for id, rows in late_rows.items() if id in counted}
        kept = self._streams[node.id, folds] = replace(stream, frame=stream.frame.persist())
        return kept

    def drops_late_rows(self, part: Plan) -> bool:
        """Whether operators before the shared rows that a part of the plan reads count the late rows they drop."""
        return any(counters for (node, _), counters in self._late_rows.items() if node in part.by_id)

    def compute(self, part: Plan) -> None:
        """Compute the rows that a part of the plan reads, unless they are there.

        On a cluster they have to be before they are read: tasks of several executors that read the same rows first do
        not wait for each other, as those of one do, but each compute them.  Where late rows are counted, too: the
        counters get to know what a task has dropped when it ends, and others may have read its rows by then.
        """
        with self._computing:
            for (node, _), stream in self._streams.items():
                kept: Any = stream.frame._jdf.queryExecution().withCachedData().cacheBuilder()
                if node in part.by_id and not kept.isCachedColumnBuffersLoaded():
                    kept.cachedColumnBuffers().count()

    def release(self) -> None:
        """Keep rows no longer."""
        for stream in self._streams.values():
            stream.frame.unpersist()

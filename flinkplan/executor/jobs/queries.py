"""The queries of a job, one a sink: streams in micro-batches, or batches over input that ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from itertools import takewhile
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from ...plan.nodes import ExecNode, WatermarkAssigner
from ...state.checkpoint import CheckpointRecord
from ..build.time.event_time import END
from ..errors import ExecutionError
from ..jvm.exceptions import is_end_of_jvm
from ..jvm.session import TRACK_ROWS
from ..prepare.query import QueryPlan
from .failures import describe_failure
from .progress import (
    Counts,
    OperatorProgress,
    QueryProgress,
    inputs_of,
    progress_of,
    read_report,
    rows_per_second,
    stateful_nodes,
    waiting,
)
from .targets import TableTarget, Target

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

_PATIENCE = 10.0
"""Seconds that a batch which is stopped has to end."""


_LATE_WORKER = "Timed out while waiting for the Python worker to connect back"
"""What Spark says where a Python worker has not come up within ten seconds, which nothing can be set for."""

_RESTARTS = 5
"""How often a stream goes on from its checkpoint after that, as it may on a busy machine."""


class Query(Protocol):
    """A running query: ``sink`` is the name of the one that it feeds, ``id`` what tells it from all other queries."""

    @property
    def sink(self) -> str: ...

    @property
    def id(self) -> str: ...

    def ended(self, seconds: float) -> bool:
        """Wait for the end, so long at most; whether it has come.  Raises :class:`ExecutionError` where it failed."""

    def stop(self) -> None:
        """End at once."""

    def reports(self) -> Iterable[QueryProgress]:
        """The batches that have ended since the last call."""


def _failed(record: CheckpointRecord, sink: str, cause: Any, text: str, target: Target) -> ExecutionError:
    """The error of a query; ``cause`` is Java's exception, ``target`` what has taken its rows."""
    failure = describe_failure(target.failure or cause, text, record.query(sink) / "state")
    return ExecutionError(failure.message, where=failure.where or f"sink {sink}", hint=failure.hint)


def _counts(target: Target, batch: int) -> Counts:
    """What was counted in a batch; it can be asked once."""
    counts = json.loads(target.counts(batch))

    def by_number(key: str) -> dict[int, Any]:
        return {int(number): rows for number, rows in counts.get(key, {}).items()}

    return Counts(
        counts.get("written", 0),
        by_number("dropped"),
        counts.get("read", 0),
        by_number("lateness"),
        tuple(tuple(rows) for rows in counts.get("inputs", ())),
        by_number("operators"),
    )


class StreamQuery:
    """A query of Spark's Structured Streaming; ``handle`` is PySpark's, which ``start`` makes.

    ``ends``: once it has ended, all input has.
    """

    def __init__(
        self,
        sink: str,
        query: QueryPlan,
        names: Mapping[int, str],
        record: CheckpointRecord,
        start: Callable[[], StreamingQuery],
        target: Target,
        *,
        ends: bool = False,
    ) -> None:
        self.sink = sink
        self.handle = start()
        self._ends = ends
        self._stopped = False
        self._start = start
        self._restarts = 0
        self._query = query
        self._names = names
        self._record = record
        self._target = target
        self._reported: str | None = None

    @property
    def id(self) -> str:
        return str(self.handle.id)

    def ended(self, seconds: float) -> bool:
        from pyspark.errors import StreamingQueryException

        try:
            if not self.handle._jsq.awaitTermination(max(int(seconds * 1000), 1)):
                return False
            if self._ends and not self._stopped:
                self._target.end()
            return True
        except StreamingQueryException as e:
            if _LATE_WORKER in str(e) and self._restarts < _RESTARTS:
                self._restarts += 1
                self.handle = self._start()
                return False
            thrown = self.handle._jsq.exception()
            cause = thrown.get() if thrown.isDefined() else None
            raise _failed(self._record, self.sink, cause, str(e), self._target) from None

    def stop(self) -> None:
        self._stopped = True
        self._target.close()
        self.handle.stop()

    def reports(self) -> Iterable[QueryProgress]:
        newest, last = self.handle._jsq.lastProgress(), self._reported
        if newest is None or newest.timestamp() == last:
            return
        recent = list(self.handle._jsq.recentProgress())  # which may have gone on since
        self._reported = recent[-1].timestamp()
        reports = takewhile(lambda report: report.timestamp() != last, reversed(recent))
        tracks_rows = self.handle._jsq.sparkSession().conf().get(TRACK_ROWS) == "true"
        for report in reversed(list(reports)):
            raw = read_report(report.json())
            if raw.is_batch or waiting(raw):
                counts = _counts(self._target, raw.batch_id) if raw.is_batch else Counts()
                yield progress_of(self.sink, raw, counts, self._query, self._names, tracks_rows)


class RealTimeQuery(StreamQuery):
    """A query in real-time mode; what it has committed when it stops is shown."""

    def __init__(
        self,
        sink: str,
        query: QueryPlan,
        names: Mapping[int, str],
        record: CheckpointRecord,
        start: Callable[[], StreamingQuery],
        target: TableTarget,
    ) -> None:
        super().__init__(sink, query, names, record, start, target)
        self._table = target

    def stop(self) -> None:
        super().stop()
        self._table.settle()


class BatchQuery:
    """A query that writes all rows of a frame at once, on a thread of its own.

    ``write`` takes the frame and the number of the batch, which is 0.  A query that the checkpoint says is done does
    nothing.  It has one name for ever, so that what is written after a failure takes the place of what was before.
    """

    def __init__(
        self,
        sink: str,
        query: QueryPlan,
        names: Mapping[int, str],
        record: CheckpointRecord,
        frame: DataFrame,
        write: Callable[[DataFrame, int], None],
        target: Target,
    ) -> None:
        self.sink = sink
        self.id = record.name_query(sink, str(uuid4()))
        self._query = query
        self._names = names
        self._record = record
        self._frame = frame
        self._write = write
        self._target = target
        self._error: BaseException | None = None
        self._report: QueryProgress | None = None
        self._thread = Thread(target=self._run, name=f"flinkplan {sink}", daemon=True)

    def start(self) -> BatchQuery:
        """Begin, unless all is done."""
        if not self._record.is_done(self.sink):
            self._thread.start()
        return self

    def _run(self) -> None:
        context = self._frame.sparkSession.sparkContext
        try:
            context.setLocalProperty("sql.streaming.queryId", self.id)
            context.setJobGroup(self.id, f"sink {self.sink}", interruptOnCancel=True)
            began, started = datetime.now(UTC), monotonic()
            self._write(self._frame, 0)
            self._target.end()
            self._record.finish(self.sink)
            self._report = self._progress(began, monotonic() - started)
        except BaseException as e:
            self._error = e

    def _progress(self, began: datetime, seconds: float) -> QueryProgress:
        counts = _counts(self._target, 0)
        is_timed = any(isinstance(node, WatermarkAssigner) for node in self._query.plan.nodes)
        return QueryProgress(
            sink=self.sink,
            batch=0,
            time=began.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            rows_read=counts.read,
            rows_written=counts.written,
            rows_dropped=sum(counts.dropped.values()),
            rows_per_second=rows_per_second(counts.read, 1000 * seconds),
            duration_ms=round(1000 * seconds),
            watermark=END if is_timed else None,
            operators=tuple(self._operator(node, counts) for node in stateful_nodes(self._query)),
            inputs=inputs_of(self._query, counts),
        )

    def _operator(self, node: ExecNode, counts: Counts) -> OperatorProgress:
        dropped, lateness = counts.dropped.get(node.id, 0), counts.lateness.get(node.id)
        return OperatorProgress(self._names[node.id], node.id, node.type, 0, 0, dropped, 0, lateness_ms=lateness)

    def ended(self, seconds: float) -> bool:
        from py4j.protocol import Py4JJavaError
        from pyspark.errors.exceptions.captured import CapturedException

        if self._thread.ident is not None:
            self._thread.join(seconds)
        error = self._error
        if error is None:
            return not self._thread.is_alive()
        if isinstance(error, Py4JJavaError):
            raise _failed(self._record, self.sink, error.java_exception, str(error), self._target) from None
        if isinstance(error, CapturedException):
            raise _failed(self._record, self.sink, error._origin, str(error), self._target) from None
        raise error

    def stop(self) -> None:
        self._target.close()
        if not self._thread.is_alive():
            return
        try:
            self._frame.sparkSession.sparkContext.cancelJobGroup(self.id)
        except Exception as e:
            if not is_end_of_jvm(e):
                raise
        self._thread.join(_PATIENCE)

    def reports(self) -> Iterable[QueryProgress]:
        report, self._report = self._report, None
        return () if report is None else (report,)

"""What a running job tells: one event a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..plan.record import Record
from .event_time import END_OF_INPUT, watermark_text

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryProgress


class OperatorProgress(Record):
    """A stateful operator after a batch."""

    name: str
    state_rows: int
    updated_rows: int
    dropped_rows: int
    memory_bytes: int


class QueryProgress(Record):
    """A batch of the query that feeds ``sink``."""

    sink: str
    batch: int
    rows_read: int
    rows_written: int
    rows_per_second: float
    duration_ms: int
    watermark: str | None
    operators: tuple[OperatorProgress, ...]


class JobListener(Protocol):
    """Is told of a job's progress, on the thread that waits for it."""

    def batch_done(self, progress: QueryProgress) -> None:
        """A batch has been written."""


class SilentListener:
    """Tells nobody."""

    def batch_done(self, progress: QueryProgress) -> None:
        pass


def progress_of(sink: str, raw: StreamingQueryProgress, rows_written: int) -> QueryProgress:
    """Spark's report of a batch in our terms."""
    return QueryProgress(
        sink=sink,
        batch=raw.batchId,
        rows_read=sum(s.numInputRows for s in raw.sources if not s.description.startswith(END_OF_INPUT)),
        rows_written=rows_written,
        rows_per_second=raw.processedRowsPerSecond,
        duration_ms=raw.durationMs.get("triggerExecution", 0),
        watermark=watermark_text(raw.eventTime.get("watermark")),
        operators=tuple(
            OperatorProgress(
                o.operatorName, o.numRowsTotal, o.numRowsUpdated, o.numRowsDroppedByWatermark, o.memoryUsedBytes
            )
            for o in raw.stateOperators
        ),
    )

"""Adds up what the batches of a job have counted, and keeps it in the checkpoint from time to time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from time import monotonic, time

from ...plan.document import Plan, dumps
from ...plan.errors import FlinkplanError
from ...plan.record import replace
from ...state.checkpoint import CheckpointRecord
from ...state.counts import (
    Flow,
    JobCounts,
    OperatorCounts,
    QueryCounts,
    SourceCounts,
    digest,
    kept_watermarks,
    merged_flows,
    read_counts,
    write_counts,
)
from .progress import OperatorProgress, QueryProgress

_SECONDS = 10.0
"""The time between two writings of the file."""


def now_ms() -> int:
    """The time in milliseconds since 1970."""
    return int(time() * 1000)


class JobCounter:
    """Counts of a job since it began with its plan.

    ``record`` is that of its checkpoint, in which they are kept, and from which they go on, if ``is_kept``.
    """

    def __init__(
        self, plan: Plan, mode: str, record: CheckpointRecord, *, is_kept: bool, clock: Callable[[], int] = now_ms
    ) -> None:
        self.record, self._is_kept, self._clock = record, is_kept, clock
        self._written = monotonic()
        self._is_new = False
        known = read_counts(record) if is_kept else None
        name = digest(dumps(plan))
        begun = clock()
        self.counts = known if known is not None and known.plan == name else JobCounts(name, mode, begun, begun)

    def add(self, progress: QueryProgress) -> None:
        """Add a batch."""
        if progress.is_idle:
            return
        end = _milliseconds(progress.time) + progress.duration_ms
        before = self.counts.queries.get(progress.sink, QueryCounts())
        self.counts = self.counts.with_query(progress.sink, added(before, progress), end)
        self._is_new = True

    def save(self, *, at_once: bool = False) -> None:
        """Keep the counts, unless that was done a moment ago; ``at_once``: in any case.

        A file that cannot be written is left out: no job is to fail for it.
        """
        if not ((at_once and self._is_new) or monotonic() - self._written >= _SECONDS):
            return
        self._written, self._is_new = monotonic(), False
        self.refresh()
        try:
            if self._is_kept:
                write_counts(self.record, self.counts)
        except (FlinkplanError, OSError):
            self._is_kept = False

    def refresh(self) -> None:
        """Take in the time, and the watermarks that the checkpoint keeps."""
        queries = {
            sink: replace(counts, watermarks=kept_watermarks(self.record.query(sink)) or counts.watermarks)
            for sink, counts in self.counts.queries.items()
        }
        self.counts = replace(self.counts, updated=self._clock(), queries=queries)


def added(counts: QueryCounts, progress: QueryProgress) -> QueryCounts:
    """The counts of a query and those of a further batch."""
    start = _milliseconds(progress.time)
    end = start + progress.duration_ms
    rows_read: dict[int, int] = {}
    for each in progress.inputs:
        rows_read[each.node] = max(rows_read.get(each.node, 0), each.rows_read)
    sources = dict(counts.sources)
    for node, rows in rows_read.items():
        sources[node] = sources.get(node, SourceCounts()).with_batch(rows, start, end)
    operators = dict(counts.operators)
    for operator in progress.operators:
        if operator.node is not None:
            operators[operator.node] = _added(operators.get(operator.node), operator)
    return QueryCounts(
        sources,
        merged_flows((*counts.flows, *(Flow(each.node, each.reader, each.rows_passed) for each in progress.inputs))),
        operators,
        counts.batches + 1,
        counts.written + progress.rows_written,
        end if progress.rows_written else counts.last_written,
        progress.watermark or counts.watermark,
        counts.watermarks,
    )


def _added(before: OperatorCounts | None, progress: OperatorProgress) -> OperatorCounts:
    counts = before or OperatorCounts()
    lateness = [ms for ms in (counts.lateness_ms, progress.lateness_ms) if ms is not None]
    return OperatorCounts(
        _sum(counts.rows_in, progress.rows_in, is_first=before is None),
        _sum(counts.rows_out, progress.rows_out, is_first=before is None),
        counts.dropped + progress.dropped_rows,
        max(lateness, default=None),
        progress.state_rows,
    )


def _sum(before: int | None, more: int | None, *, is_first: bool) -> int | None:
    """Rows of several batches; ``None`` where those of one are not known."""
    if more is None:
        return None
    return more if is_first else None if before is None else before + more


def _milliseconds(time: str) -> int:
    return round(datetime.fromisoformat(time).timestamp() * 1000)

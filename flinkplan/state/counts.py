"""What the queries of a job have counted since it began, and the file of the checkpoint that keeps it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

import msgspec

from ..plan.errors import FlinkplanError
from ..plan.files import Place
from ..plan.record import Record, field, replace
from .checkpoint import CheckpointRecord

_MOST_PERIODS = 32
"""How many periods of activity are kept of a source; with more, the two that are closest to each other become one."""

_FILE = "counts.json"

_WATERMARKS = "watermarks"
"""The folder of a query's progress in which ``ReachedWatermarks.java`` keeps the watermark of each source."""


class Period(Record):
    """A time during which rows came: from the first of them to the last (epoch milliseconds)."""

    first: int
    last: int


class SourceCounts(Record):
    """The rows that a source table scan has read, and when."""

    rows: int = 0
    periods: tuple[Period, ...] = ()

    def with_batch(self, rows: int, first: int, last: int) -> SourceCounts:
        """The counts after a batch that began and ended at these times."""
        if not rows:
            return self
        return SourceCounts(self.rows + rows, _fewer((*self.periods, Period(first, last))))


def _fewer(periods: tuple[Period, ...]) -> tuple[Period, ...]:
    if len(periods) <= _MOST_PERIODS:
        return periods
    closest = min(range(len(periods) - 1), key=lambda place: periods[place + 1].first - periods[place].last)
    merged = Period(periods[closest].first, periods[closest + 1].last)
    return (*periods[:closest], merged, *periods[closest + 2 :])


class Flow(Record):
    """The rows of a source that have passed all filters before a reader.

    ``reader`` is the id of the first node on their way that keeps state, or of the sink; ``None``: another node that
    changes how many rows there are, such as a join in a batch.
    """

    source: int
    reader: int | None
    passed: int = 0


class OperatorCounts(Record):
    """The rows of an operator with state.

    ``rows_in`` and ``rows_out`` are ``None`` where they are not counted.  ``dropped`` rows were late, the latest of
    them by ``lateness_ms``: so far was the watermark beyond the last one at which the row would have been taken.
    """

    rows_in: int | None = None
    rows_out: int | None = None
    dropped: int = 0
    lateness_ms: int | None = None
    state_rows: int | None = None


class QueryCounts(Record):
    """What the query of a sink has counted; sources and operators are by the ids of their nodes.

    ``watermark`` is Flink's as progress reports have it; ``watermarks`` are those of several sources (epoch ms) by the
    names under which the checkpoint keeps them.  ``last_written`` is when rows were last written (epoch ms).
    """

    sources: Mapping[int, SourceCounts] = field(default_factory=dict)
    flows: tuple[Flow, ...] = ()
    operators: Mapping[int, OperatorCounts] = field(default_factory=dict)
    batches: int = 0
    written: int = 0
    last_written: int | None = None
    watermark: str | None = None
    watermarks: Mapping[str, int] = field(default_factory=dict)

    def passed(self, source: int, reader: int | None) -> int | None:
        """The rows of a source that have come to a reader; ``None`` where that is not counted."""
        return next((flow.passed for flow in self.flows if (flow.source, flow.reader) == (source, reader)), None)


class JobCounts(Record):
    """What a job has counted since it began with a plan; ``plan`` is its digest, times are epoch milliseconds."""

    plan: str
    mode: str
    started: int
    updated: int
    queries: Mapping[str, QueryCounts] = field(default_factory=dict)

    def with_query(self, sink: str, counts: QueryCounts, time: int) -> JobCounts:
        """The counts after a batch of the query of a sink, which ended at a time."""
        return replace(self, queries={**self.queries, sink: counts}, updated=max(self.updated, time))


def digest(plan: str) -> str:
    """What tells the text of a plan from others."""
    return hashlib.sha256(plan.encode()).hexdigest()


def read_counts(record: CheckpointRecord) -> JobCounts | None:
    """What is kept in a checkpoint; ``None`` where nothing is, or where it cannot be read: no job depends on it."""
    file = record.own_file(_FILE)
    try:
        return msgspec.json.decode(file.read(), type=JobCounts) if file.exists() else None
    except (FlinkplanError, msgspec.MsgspecError):
        return None


def write_counts(record: CheckpointRecord, counts: JobCounts) -> None:
    """Keep the counts in a checkpoint.  Raises :class:`PlanError` where that cannot be written."""
    record.own_file(_FILE).write(msgspec.json.encode(counts).decode())


def kept_watermarks(query: Place) -> dict[str, int]:
    """The watermarks of several sources as the last batch of a query has left them; none of a single source."""
    folder = query / _WATERMARKS
    numbers = [int(name) for name in folder.children() if name.isdecimal()]
    try:
        return msgspec.json.decode((folder / str(max(numbers))).read(), type=dict[str, int]) if numbers else {}
    except (FlinkplanError, msgspec.MsgspecError):
        return {}


def merged_flows(flows: Iterable[Flow]) -> tuple[Flow, ...]:
    """Flows in which each source and reader stand once."""
    passed: dict[tuple[int, int | None], int] = {}
    for flow in flows:
        key = flow.source, flow.reader
        passed[key] = passed.get(key, 0) + flow.passed
    return tuple(Flow(source, reader, rows) for (source, reader), rows in passed.items())

"""What a running job tells: one event a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec.json import decode

from ...plan.nodes import ExecNode, TableSourceScan
from ...plan.record import Record, field
from ..build.time.event_time import CONTROL_SOURCE, watermark_text
from ..prepare.query import QueryPlan


class OperatorProgress(Record):
    """A stateful operator after a batch.

    ``name`` is its exec node's (``join``, or ``join#2``), ``node`` and ``type`` are that node's id and type; where it
    is not known, ``name`` is Spark's.  ``state_rows`` is ``None`` where the state store does not count them.
    ``updated_rows`` and ``dropped_rows``, which came too late, are the batch's, as are the rows that went in and came
    out; these are ``None`` where Spark does not count them.  ``lateness_ms`` is by how much the latest row
    that was ever dropped was late, where that is known.  Bounded input that is read at once leaves no state.
    """

    name: str
    node: int | None
    type: str | None
    state_rows: int | None
    updated_rows: int
    dropped_rows: int
    memory_bytes: int
    rows_in: int | None = None
    rows_out: int | None = None
    lateness_ms: int | None = None


class InputProgress(Record):
    """The rows that a batch has read of a source, and those of them that have passed all filters before a reader.

    ``reader`` is the id of the node with state that takes them, or of the sink; ``None``: another node that changes how
    many rows there are.
    """

    source: str
    node: int
    reader: int | None
    rows_read: int
    rows_passed: int


class Waiting(Record):
    """What a source waits for before it is read, and how much of it waits: messages, or files."""

    source: str
    waits_for: str
    waiting: int


class Lag(Record):
    """How much of a source was still to be read when a batch had ended: so many messages of a partition (``topic/0``),
    or files or bytes of files below a path."""

    source: str
    unit: str
    lag: int


class QueryProgress(Record):
    """A batch of the query that feeds ``sink``: when it began (ISO 8601), and how many rows went in, came out and came
    too late.  ``is_idle``: there was none, and all that is told is what waits."""

    sink: str
    batch: int
    time: str
    rows_read: int
    rows_written: int
    rows_dropped: int
    rows_per_second: float
    duration_ms: int
    watermark: str | None
    operators: tuple[OperatorProgress, ...]
    waiting: tuple[Waiting, ...] = ()
    lag: tuple[Lag, ...] = ()
    is_idle: bool = False
    inputs: tuple[InputProgress, ...] = ()


class Counts(Record):
    """What was counted in a batch: rows written, rows dropped by the id of the node, and, of one that is no stream's,
    rows read.

    ``lateness``: by how much the latest row that a node has dropped so far was late (milliseconds).  ``inputs`` and
    ``operators`` are as ``PlanCounts.java`` has them: lists of a node, a reader, rows read and passed; rows in and out
    by Spark's number of an operator.
    """

    written: int = 0
    dropped: Mapping[int, int] = field(default_factory=dict)
    read: int = 0
    lateness: Mapping[int, int] = field(default_factory=dict)
    inputs: tuple[tuple[int, int, int, int], ...] = ()
    operators: Mapping[int, tuple[int, int]] = field(default_factory=dict)


class JobListener(Protocol):
    """Is told of a job's progress, on the thread that waits for it."""

    def batch_done(self, progress: QueryProgress) -> None:
        """A batch has been written."""


class SilentListener:
    """Tells nobody."""

    def batch_done(self, progress: QueryProgress) -> None:
        pass


def stateful_nodes(query: QueryPlan) -> list[ExecNode]:
    """The nodes of the operators that keep state, in the order in which Spark reports these.

    One that several nodes read is run once.
    """
    operators = {(node.id, step.by): node for node, step in query.operators}
    return list(operators.values())


class SourceReport(Record, rename="camel"):
    """What Spark reports of a source."""

    description: str
    num_input_rows: int
    metrics: Mapping[str, str] = field(default_factory=dict)


class OperatorReport(Record, rename="camel"):
    """What Spark reports of a stateful operator."""

    operator_name: str
    num_rows_total: int
    num_rows_updated: int
    memory_used_bytes: int


class BatchReport(Record, rename="camel"):
    """Spark's ``StreamingQueryProgress``, as far as it is used here.

    PySpark's own class raises ``KeyError`` where Spark leaves out a rate: one over no time at all.
    """

    timestamp: str
    batch_id: int
    state_operators: tuple[OperatorReport, ...]
    sources: tuple[SourceReport, ...]
    duration_ms: Mapping[str, int] = field(default_factory=dict)
    event_time: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_batch(self) -> bool:
        """Whether this is of a batch; a report of waiting has the number of the next batch."""
        return "addBatch" in self.duration_ms


def read_report(text: str) -> BatchReport:
    """Read the JSON of a report of Spark."""
    return decode(text, type=BatchReport)


def rows_per_second(rows: int, milliseconds: float) -> float:
    """How fast rows were read, in a millisecond at least."""
    return 1000 * rows / max(milliseconds, 1)


def waiting(raw: BatchReport) -> tuple[Waiting, ...]:
    """What Spark's sources say of their waiting in a report."""
    return tuple(
        Waiting(source.description, source.metrics["waits for"], int(source.metrics["waiting"]))
        for source in raw.sources
        if "waits for" in source.metrics
    )


def lags(raw: BatchReport) -> tuple[Lag, ...]:
    """What Spark's sources say in a report of what is still to be read, as ``Lag.java`` writes it.

    Of a source that several nodes read, the largest.
    """
    largest: dict[tuple[str, str], int] = {}
    for source in raw.sources:
        for key, value in source.metrics.items():
            what, _, rest = key.partition(" ")
            unit, _, place = rest.partition(" ")
            if what == "lag":
                largest[place, unit] = max(largest.get((place, unit), 0), int(value))
    return tuple(Lag(place, unit, lag) for (place, unit), lag in sorted(largest.items()))


_SINK, _UNKNOWN = -1, -1
"""What stands for the sink among readers, and for rows that were not counted, in ``PlanCounts.java``."""


def rows_by_node(query: QueryPlan, counts: Counts) -> Mapping[int, tuple[int | None, int | None]]:
    """The rows that went into and came out of each node with state.

    A node may have several operators, of which the last one in Spark's order is the first that rows come to.
    """
    rows: dict[int, tuple[int | None, int | None]] = {}
    nodes = [node for node, _ in query.operators]
    for number in sorted(number for number in counts.operators if number < len(nodes)):
        rows_in, rows_out = (None if n == _UNKNOWN else n for n in counts.operators[number])
        first = rows.get(nodes[number].id)
        rows[nodes[number].id] = (rows_in, first[1] if first else rows_out)
    return rows


def inputs_of(query: QueryPlan, counts: Counts) -> tuple[InputProgress, ...]:
    """What a batch has read of each source for each reader."""
    operators = dict(enumerate(node.id for node, _ in query.operators))
    readers = {**operators, _SINK: query.plan.sinks[0].id}
    passed: dict[tuple[int, int | None], tuple[int, int]] = {}
    for source, number, rows_read, rows_passed in counts.inputs:
        if source in query.plan.by_id and rows_read != _UNKNOWN:
            key = source, readers.get(number)
            read, before = passed.get(key, (0, 0))
            passed[key] = max(read, rows_read), before + max(rows_passed, 0)
    return tuple(
        InputProgress(_table_name(query.plan.by_id[source]), source, reader, rows_read, min(rows_passed, rows_read))
        for (source, reader), (rows_read, rows_passed) in passed.items()
    )


def _table_name(node: ExecNode) -> str:
    return node.scan_table_source.table.name if isinstance(node, TableSourceScan) else node.metadata.name


def progress_of(
    sink: str,
    raw: BatchReport,
    counts: Counts,
    query: QueryPlan,
    names: Mapping[int, str],
    tracks_rows: bool,
) -> QueryProgress:
    """Spark's report of a batch in our terms.

    ``names`` are those of the plan's nodes.  ``tracks_rows``: the rows of state are counted.
    """
    nodes, rows = stateful_nodes(query), rows_by_node(query, counts)
    known: Sequence[ExecNode | None] = (
        nodes if len(nodes) == len(raw.state_operators) else [None] * len(raw.state_operators)
    )
    rows_read = sum(source.num_input_rows for source in raw.sources if source.description != CONTROL_SOURCE)
    duration = raw.duration_ms.get("triggerExecution", 0)
    return QueryProgress(
        sink=sink,
        batch=raw.batch_id,
        time=raw.timestamp,
        rows_read=rows_read,
        rows_written=counts.written,
        rows_dropped=sum(counts.dropped.values()),
        rows_per_second=rows_per_second(rows_read, duration),
        duration_ms=duration,
        watermark=watermark_text(raw.event_time.get("watermark")),
        operators=tuple(
            OperatorProgress(
                names[node.id] if node else o.operator_name,
                node.id if node else None,
                node.type if node else None,
                o.num_rows_total if tracks_rows else None,
                o.num_rows_updated,
                counts.dropped.get(node.id, 0) if node else 0,
                o.memory_used_bytes,
                *(rows.get(node.id, (None, None)) if node else (None, None)),
                counts.lateness.get(node.id) if node else None,
            )
            for o, node in zip(raw.state_operators, known, strict=True)
        ),
        waiting=waiting(raw),
        lag=lags(raw),
        is_idle=not raw.is_batch,
        inputs=inputs_of(query, counts),
    )

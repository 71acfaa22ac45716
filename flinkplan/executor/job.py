"""Running a plan as Spark streaming queries."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..plan.checkpoint import CheckpointInUseError, CheckpointRecord
from ..plan.document import Plan
from ..plan.errors import FlinkplanError
from ..plan.files import Place
from ..plan.names import node_names
from ..plan.nodes import ExecNode, Sink, TableSourceScan, WatermarkAssigner
from ..plan.record import Record, field
from ..plan.session import session_options, with_ttls
from .checks import check_executable
from .collecting import Collector
from .connectors import find_connector
from .context import Mode, TranslationContext
from .errors import ExecutionError, TableError
from .failures import MORE_MEMORY, describe_failure, is_end_of_jvm
from .native_aggregates import is_native_query
from .operators.tables import sink_order
from .parts import queries_of
from .processing_time import goes_by_clock
from .progress import Counts, JobListener, QueryProgress, SilentListener, is_batch, progress_of, stateful_nodes
from .python_classes import PythonCode, check_allowed
from .registry import translate
from .session import EMPTY_BATCHES, STATE_ENCODING, TRACK_ROWS, check_reach, session
from .stream import Stream
from .tables import table_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

POLL_SECONDS = 0.1
_MEMORY = f"it was killed, perhaps for want of memory: {MORE_MEMORY}"
SMALL_INPUT = 16 << 20
"""Bounded input up to this many bytes is worked on in one partition, and in seconds."""


class JobOptions(Record):
    """How to run a plan.

    ``checkpoint``: where state is kept; a temporary directory if ``None``.  ``master`` and ``conf`` are Spark's.
    ``variables`` replace ``${NAME}`` in table options.  ``options`` are the session's, for what the plan leaves open:
    :data:`~.plan.session.DEFAULTS`.  ``mode``: by default as Flink, bounded where all sources
    are.  ``trigger_interval``: seconds between batches when streaming.  ``spark``: a session to use.  ``single``: the
    process runs nothing else, so that a new session may be made for this job.  ``collector`` takes the rows instead of
    the plan's sink.  ``python``: what may be imported where the plan names Python classes.
    """

    checkpoint: str | None = None
    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    mode: Mode | None = None
    trigger_interval: float = 0.0
    listener: JobListener = field(default_factory=SilentListener)
    spark: SparkSession | None = None
    single: bool = False
    collector: Collector | None = None
    python: PythonCode = PythonCode()


class Query(Record):
    """A running query and the sink it feeds."""

    sink: str
    part: Plan
    handle: StreamingQuery
    writer: Any

    def counts(self, batch: int) -> Counts:
        """What was counted in a batch; it can be asked once."""
        found = json.loads(self.writer.counts(batch) or "{}")
        return Counts(found.get("written", 0), {int(node): rows for node, rows in found.get("dropped", {}).items()})


class Job:
    """A plan at work.  Made by :func:`execute`.

    ``names`` are those of its queries, ``temporary`` a folder that goes with it.
    """

    def __init__(
        self,
        mode: Mode,
        listener: JobListener,
        record: CheckpointRecord,
        names: Iterable[str],
        lock: Any,
        temporary: Path | None,
    ) -> None:
        self.queries: list[Query] = []
        self.mode = mode
        self._record = record
        self._recorded = record.contents()
        self._sinks = tuple(names)
        self._batches = record.batches(self._sinks)
        self._lock = lock
        self._listener = listener
        self._temporary = temporary
        self._reported: dict[str, str] = {}
        self._names: Mapping[int, str] = {}

    def start(self, queries: Mapping[str, Callable[[], Query]], plan: Plan, options: Mapping[str, str]) -> None:
        """Start queries by their names, once the plan that they are of is on record."""
        self._names = node_names(plan)
        try:
            self._record.begin(plan, self.mode.value, options)
            for start in queries.values():
                self.queries.append(start())
            self._record.started({query.sink: query.handle.id for query in self.queries})
        except BaseException:
            self.stop()
            self._put_back()
            raise

    def _put_back(self) -> None:
        """Record what was recorded before, unless a batch has begun since."""
        if self._record.batches(self._sinks) == self._batches:
            self._record.put_back(self._recorded)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, or ``timeout`` seconds; whether it ended.

        Raises :class:`ExecutionError` where a query fails; the others are stopped then, as they are when the
        waiting is interrupted.
        """
        left = timeout
        try:
            for query in self.queries:
                while not self._ended(query, POLL_SECONDS if left is None else min(left, POLL_SECONDS)):
                    if left is not None and (left := left - POLL_SECONDS) <= 0:
                        return False
        except BaseException as e:
            self.stop()
            if isinstance(e, ExecutionError):
                self._put_back()
            if is_end_of_jvm(e):
                raise ExecutionError("the JVM that ran the job has ended", hint=_MEMORY) from None
            raise
        if self.mode is Mode.BOUNDED:
            self._record.end()
        self.stop()
        return True

    def _ended(self, query: Query, seconds: float) -> bool:
        from pyspark.errors import StreamingQueryException

        try:
            ended = bool(query.handle._jsq.awaitTermination(max(int(seconds * 1000), 1)))
        except StreamingQueryException as e:
            self._report()
            cause = query.writer.failure if isinstance(query.writer, Collector) else None
            failure = describe_failure(query.handle, e, self._record.query(query.sink) / "state", cause)
            where = failure.where or f"sink {query.sink}"
            raise ExecutionError(failure.message, where=where, hint=failure.hint) from None
        self._report()
        return ended

    def stop(self) -> None:
        """Stop all queries; streaming jobs go on from their checkpoint when started again."""
        try:
            for query in self.queries:
                if isinstance(query.writer, Collector):
                    query.writer.close()
                query.handle.stop()
            self._report()
            if self._lock is not None:
                self._lock.close()
        except Exception as e:
            if not is_end_of_jvm(e):
                raise
        finally:
            if self._temporary is not None:
                shutil.rmtree(self._temporary, ignore_errors=True)

    def _report(self) -> None:
        for query in self.queries:
            for progress in self._unreported(query):
                self._listener.batch_done(progress)

    def _unreported(self, query: Query) -> Iterable[QueryProgress]:
        """The batches of a query since it was last asked for them."""
        from pyspark.sql.streaming.listener import StreamingQueryProgress

        newest, last = query.handle._jsq.lastProgress(), self._reported.get(query.sink)
        if newest is None or newest.timestamp() == last:
            return
        self._reported[query.sink] = newest.timestamp()
        reports = takewhile(
            lambda report: report.timestamp() != last, reversed(list(query.handle._jsq.recentProgress()))
        )
        nodes = stateful_nodes(query.part)
        tracks_rows = query.handle._jsq.sparkSession().conf().get(TRACK_ROWS) == "true"
        for report in reversed(list(reports)):
            raw = StreamingQueryProgress.fromJson(json.loads(report.json()))
            if is_batch(raw):
                yield progress_of(query.sink, raw, query.counts(raw.batchId), nodes, self._names, tracks_rows)


def resolve_mode(plan: Plan, options: JobOptions) -> Mode:
    """The mode asked for, else bounded or streaming as the sources are."""
    if options.mode is not None:
        return options.mode
    tables = (
        table_of(n.scan_table_source.table, options.variables) for n in plan.nodes if isinstance(n, TableSourceScan)
    )
    return Mode.BOUNDED if all(find_connector(t).is_bounded(t) for t in tables) else Mode.STREAMING


def execute(plan: Plan, options: JobOptions) -> Job:
    """Start a plan.

    Raises :class:`UnsupportedError` for nodes and functions that cannot be executed, :class:`TableError` for
    tables whose options cannot be used, before anything has run.
    """
    check_executable(plan, options.variables, options.options)
    check_allowed(plan, options.python)
    mode = resolve_mode(plan, options)
    queries = queries_of(with_ttls(plan, options.options))
    if options.checkpoint is not None:
        _check_record(CheckpointRecord(options.checkpoint), mode, plan, queries)
    brief = options.single and mode is not Mode.STREAMING and _is_small(plan.nodes, options)
    spark = options.spark or session(options.master, options.conf, brief=brief)
    temporary = Path(tempfile.mkdtemp(prefix="flinkplan-")) if options.checkpoint is None else None
    record = CheckpointRecord(options.checkpoint or str(temporary))
    lock = _lock(record, spark)
    try:
        job = Job(mode, options.listener, record, queries, lock, temporary)
        is_closed = (*record.modes, mode.value)[0] == Mode.BOUNDED.value
        starts = {
            name: _translate(name, part, mode, is_closed, record, spark, options) for name, part in queries.items()
        }
    except BaseException:
        if lock is not None:
            lock.close()
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
        raise
    job.start(starts, plan, session_options(options.options))
    return job


def _check_record(record: CheckpointRecord, mode: Mode, plan: Plan, names: Iterable[str]) -> None:
    """Nobody else uses the checkpoint, it is whole, and the rows to come are not late for having ended the input."""
    if record.is_in_use:
        raise CheckpointInUseError(record)
    record.check(names)
    is_timed = any(isinstance(node, WatermarkAssigner) for node in plan.nodes)
    if is_timed and mode is not Mode.BOUNDED and Mode.BOUNDED.value in record.modes[-1:]:
        raise FlinkplanError(
            f"the job of this checkpoint was ending its input; it cannot go on in the mode {mode.value}",
            where=str(record.folder),
            hint="let it end with --mode bounded, or start with a new checkpoint",
        )


def _lock(record: CheckpointRecord, spark: SparkSession) -> Any:
    """Keep the checkpoint to this job.  The JVM holds the lock: it is what writes, and may outlive this process.

    ``None`` where there are no locks; what Spark cannot write is refused.
    """
    assert spark._jvm is not None
    if record.lock_file is None:
        check_reach(record.place, spark)
        return None
    record.prepare()
    lock = spark._jvm.flinkplan.runtime.CheckpointLock.tryAcquire(str(record.lock_file))
    if lock is None:
        raise CheckpointInUseError(record)
    return lock


def _translate(
    name: str,
    part: Plan,
    mode: Mode,
    is_closed: bool,
    record: CheckpointRecord,
    spark: SparkSession,
    options: JobOptions,
) -> Callable[[], Query]:
    """What starts the query of a sink."""
    nodes = part.nodes
    (node,) = (n for n in nodes if isinstance(n, Sink))
    context = TranslationContext(
        spark,
        part,
        mode,
        options.variables,
        is_closed=is_closed,
        options=options.options,
        is_watched=options.collector is not None,
        python=options.python,
    )
    stream = translate(part, nodes, context)[node.id]
    location = record.query(name)
    into = options.collector or _writer(node, stream, location, context)
    own_name = f"{name}, {record.place}"  # two jobs at once may have the same sink, but not the same checkpoint
    query = stream.frame.writeStream.queryName(own_name).outputMode("append")
    query = query.option("checkpointLocation", str(location))
    if mode is Mode.STREAMING:
        query = query.trigger(processingTime=f"{int(options.trigger_interval * 1000)} milliseconds")
    else:
        query = query.trigger(availableNow=True)
    if isinstance(into, Collector):
        query = query.foreachBatch(into.writer(stream, context))
    else:
        for node_id, late in context.late_counters.items():
            into.countLate(node_id, late)
        query._jwrite.foreachBatch(into)

    def start() -> Query:
        _set_parallelism(nodes, context, options)
        spark.conf.set(STATE_ENCODING, "unsaferow" if is_native_query(part) else "avro")
        spark.conf.set(EMPTY_BATCHES, str(mode is Mode.STREAMING and goes_by_clock(part)).lower())
        return Query(name, part, query.start(), into)

    return start


def _writer(node: Sink, stream: Stream, location: Place, context: TranslationContext) -> Any:
    """What writes the batches that reach a sink, in Java."""
    table = table_of(node.dynamic_table_sink.table, context.variables)
    names = [name for name, _ in table.physical]
    key = [names.index(name) for name in table.primary_key] or node.input_upsert_key or ()
    keys = [sink_order(table).index(i) for i in key]
    writer = find_connector(table).writer(table, context)
    spec = {**writer, "changelog": stream.changelog, "keys": keys, "published": str(location / "published")}
    writers = context.runtime.sink
    return (writers.ColumnarWriter if "columnar" in spec else writers.BatchWriter)(json.dumps(spec))


def _set_parallelism(nodes: Iterable[ExecNode], context: TranslationContext, options: JobOptions) -> None:
    """Few rows are quickest, and in Flink's order, in one partition."""
    if "spark.sql.shuffle.partitions" in options.conf or context.mode is not Mode.BOUNDED:
        return
    partitions = 1 if _is_small(nodes, options) else max(2, context.spark.sparkContext.defaultParallelism)
    context.spark.conf.set("spark.sql.shuffle.partitions", str(partitions))


def _is_small(nodes: Iterable[ExecNode], options: JobOptions) -> bool:
    """Whether the bounded input of the nodes is known to be small."""
    tables = [table_of(n.scan_table_source.table, options.variables) for n in nodes if isinstance(n, TableSourceScan)]
    sizes = [find_connector(t).size(t) for t in tables]
    return all(s is not None for s in sizes) and sum(s or 0 for s in sizes) <= SMALL_INPUT


__all__ = ["ExecutionError", "Job", "JobOptions", "Mode", "Query", "TableError", "execute"]

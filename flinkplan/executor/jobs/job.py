"""Running a plan as queries of Spark."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ...plan.document import Plan
from ...plan.errors import FlinkplanError, UnsupportedError
from ...plan.files import Place
from ...plan.names import node_names
from ...plan.nodes import ExecNode, Sink, WatermarkAssigner
from ...plan.record import replace
from ...plan.session import session_options
from ...state.checkpoint import CheckpointInUseError, CheckpointRecord
from ..build.connectors import builder_of
from ..build.context import Built, TranslationContext
from ..build.operators.tables import sink_order
from ..build.registry import build_query
from ..build.sharing import SharedRows, SharedStreams
from ..build.stream import Stream
from ..build.time.source_watermarks import reached_watermarks
from ..connectors.tables import table_of
from ..errors import ExecutionError, TableError
from ..jvm.exceptions import is_end_of_jvm
from ..jvm.session import (
    ADAPTIVE,
    ADVISORY_BYTES,
    ASYNC_PROGRESS,
    COMPRESSED_ROWS,
    EMPTY_BATCHES,
    EVICTION_INTERVAL,
    OUTPUT_MODE,
    PARTITIONS,
    REAL_TIME_CONF,
    SQL_CONF,
    STATE_ENCODING,
    Lifetime,
    check_reach,
    chosen_settings,
    copy_of,
    session,
)
from ..prepare.checks import check_executable
from ..prepare.former_functions import with_former_functions
from ..prepare.job_plan import JobPlan, JobSettings, default_mode, prepare
from ..prepare.known.clock import goes_by_clock, tells_time
from ..prepare.known.input_size import is_small, partitions_for, reads_little
from ..prepare.modes import Mode
from ..prepare.python_classes import check_allowed
from ..prepare.query import QueryPlan
from ..prepare.real_time import check_real_time, unshared
from ..prepare.watermarks import uses_watermark, waits_for_watermark
from ..scratch import temporary_folder
from .failures import end_of_jvm
from .options import JobOptions
from .progress import JobListener
from .queries import BatchQuery, Query, RealTimeQuery, StreamQuery
from .set_clock import start_at
from .slots import check_interval, check_slots, master_with, slots_of
from .targets import CollectingTarget, TableTarget, Target

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

POLL_SECONDS = 0.1


class Job:
    """A plan at work.  Made by :func:`execute`.

    ``names`` are those of its queries, ``temporary`` a folder that goes with it.  ``plan`` is what it runs, ``built``
    what has been built of each query's nodes.
    """

    def __init__(
        self,
        plan: JobPlan,
        listener: JobListener,
        record: CheckpointRecord,
        lock: Any,
        temporary: Path | None,
    ) -> None:
        self.queries: list[Query] = []
        self.built: Mapping[str, Mapping[int, Built]] = {}
        self.plan = plan
        self.mode = plan.mode
        self._record = record
        self._recorded = record.contents()
        self._sinks = tuple(plan.queries)
        self._batches = record.batches(self._sinks)
        self._lock = lock
        self._listener = listener
        self._temporary = temporary

    def start(
        self,
        queries: Mapping[str, Callable[[], Query]],
        plan: Plan,
        options: Mapping[str, str],
        release: Callable[[], None],
    ) -> None:
        """Start queries by their names, once the plan that they are of is on record; ``release`` what they shared."""
        self._release = release
        try:
            self._record.begin(plan, self.mode.value, options)
            for start in queries.values():
                self.queries.append(start())
            self._record.started({query.sink: query.id for query in self.queries})
        except BaseException:
            self.stop()
            self._put_back()
            raise

    def _put_back(self) -> None:
        """Record what was recorded before, unless a batch has begun since, or a query is done."""
        is_any_done = any(self._record.is_done(name) for name in self._sinks)
        if self._record.batches(self._sinks) == self._batches and not is_any_done:
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
            if ended := end_of_jvm(e):
                raise ended from None
            raise
        if self.mode is Mode.BOUNDED:
            self._record.end()
        self.stop()
        return True

    def _ended(self, query: Query, seconds: float) -> bool:
        try:
            return query.ended(seconds)
        finally:
            self._report()

    def stop(self) -> None:
        """Stop all queries; streaming jobs go on from their checkpoint when started again."""
        try:
            for query in self.queries:
                query.stop()
            self._report()
            self._release()
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
            for progress in query.reports():
                self._listener.batch_done(progress)


def resolve_mode(plan: Plan, options: JobOptions) -> Mode:
    """The mode asked for, else bounded or streaming as the sources are."""
    if options.mode is not None:
        return options.mode
    return default_mode(plan, options.variables)


def execute(plan: Plan, options: JobOptions) -> Job:
    """Start a plan.

    Raises :class:`UnsupportedError` for nodes and functions that cannot be executed, :class:`TableError` for
    tables whose options cannot be used, before anything has run.
    """
    check_executable(plan, options.variables, options.options, options.databases)
    check_allowed(plan, options.python)
    mode = resolve_mode(plan, options)
    settings = JobSettings(options.variables, options.options, options.collector is not None, options.streams)
    job_plan = prepare(_as_begun(plan, options.checkpoint), mode, settings)
    if mode is Mode.REAL_TIME:
        _check_real_time(job_plan, options)
        job_plan = replace(job_plan, queries={name: unshared(query) for name, query in job_plan.queries.items()})
    if options.checkpoint is not None:
        record = CheckpointRecord(options.checkpoint)
        if job_plan.is_batch and record.is_begun(job_plan.queries):
            job_plan = job_plan.in_micro_batches
        if not job_plan.is_batch:  # as the first batch has fixed it
            job_plan = job_plan.in_kernels(
                name for name in job_plan.queries if record.settings(name).get(STATE_ENCODING) == "avro"
            )
        _check_record(record, job_plan)
    if options.spark is None:
        options = replace(options, conf=chosen_settings(options.conf))
    if mode is Mode.REAL_TIME:
        spark = _real_time_session(job_plan, options)
    else:
        spark = options.spark or session(
            options.master, options.conf, lifetime=_lifetime(plan, mode, options), lean=options.lean
        )
    temporary = temporary_folder("checkpoint-") if options.checkpoint is None else None
    record = CheckpointRecord(options.checkpoint or str(temporary))
    lock = _lock(record, spark)
    try:
        job = Job(job_plan, options.listener, record, lock, temporary)
        kind = _Batches if job_plan.is_batch else _RealTime if mode is Mode.REAL_TIME else Streams
        made = kind(job_plan, record, spark, options)
        starts = made.starts()
        job.built = made.built
    except BaseException:
        if lock is not None:
            lock.close()
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
        raise
    job.start(starts, plan, session_options(options.options), made.release)
    return job


def _as_begun(plan: Plan, checkpoint: str | None) -> Plan:
    """The plan with those versions of functions with which the job of a checkpoint has begun."""
    return plan if checkpoint is None else with_former_functions(plan, CheckpointRecord(checkpoint).functions)


def _lifetime(plan: Plan, mode: Mode, options: JobOptions) -> Lifetime:
    """What a session that is started for a job is for."""
    if mode.is_endless or not options.single:
        return Lifetime.OPEN
    return Lifetime.SECONDS if is_small(plan.nodes, options.variables) else Lifetime.JOB


def _check_record(record: CheckpointRecord, job: JobPlan) -> None:
    """Nobody else uses the checkpoint, it is whole, and the rows to come are not late for having ended the input."""
    mode, names = job.mode, tuple(job.queries)
    if record.is_in_use:
        raise CheckpointInUseError(record)
    record.check(names)
    if not job.is_batch and any(record.is_done(name) for name in names):
        raise FlinkplanError(
            f"the job of this checkpoint has read its input to the end; it cannot go on in the mode {mode.value}",
            where=str(record.folder),
            hint="start with a new checkpoint",
        )
    real_time = Mode.REAL_TIME.value
    if record.modes and (real_time in record.modes) != (mode is Mode.REAL_TIME):
        raise FlinkplanError(
            f"the job of this checkpoint ran in the mode {record.modes[-1]}; it cannot go on in the mode {mode.value}",
            where=str(record.folder),
            hint="real-time mode keeps state in files of its own kind: start with a new checkpoint",
        )
    is_timed = any(isinstance(node, WatermarkAssigner) for node in job.plan.nodes)
    if is_timed and mode is not Mode.BOUNDED and Mode.BOUNDED.value in record.modes[-1:]:
        raise FlinkplanError(
            f"the job of this checkpoint was ending its input; it cannot go on in the mode {mode.value}",
            where=str(record.folder),
            hint="let it end with --mode bounded, or start with a new checkpoint",
        )


def _check_real_time(job: JobPlan, options: JobOptions) -> None:
    check_interval(options.checkpoint_interval)
    if options.collector is not None:
        raise UnsupportedError("rows are not collected in real-time mode", hint="write them into a table: print")
    check_real_time(job.queries.values())


def _real_time_session(job: JobPlan, options: JobOptions) -> SparkSession:
    """A session that runs all tasks of the queries at once.

    Raises :class:`FlinkplanError` where one that is there already does not.
    """
    conf = {**SQL_CONF, **REAL_TIME_CONF, **options.conf}
    spark = options.spark
    if spark is None:
        slots = slots_of(job.queries.values(), int(conf[PARTITIONS]))
        spark = session(master_with(slots, options.master or conf.get("spark.master")), conf, lean=options.lean)
    slots = slots_of(job.queries.values(), int(spark.conf.get(PARTITIONS) or conf[PARTITIONS]))
    check_slots(slots, spark.sparkContext)
    return spark


def _lock(record: CheckpointRecord, spark: SparkSession) -> Any:
    """Keep the checkpoint to this job.  The JVM holds the lock: it is what writes, and may outlive this process.

    ``None`` where there are no locks; what Spark cannot write is refused.
    """
    assert spark._jvm is not None
    if record.lock_file is None:
        check_reach(record.place, spark)
        return None
    record.prepare()
    lock = spark._jvm.flinkplan.runtime.storage.CheckpointLock.tryAcquire(str(record.lock_file))
    if lock is None:
        raise CheckpointInUseError(record)
    return lock


class _Queries:
    """Makes the queries of a job."""

    def __init__(self, job: JobPlan, record: CheckpointRecord, spark: SparkSession, options: JobOptions) -> None:
        self._job = job
        self._names = node_names(job.plan)
        self._record = record
        self._spark = spark
        self._options = options
        self._python_job = uuid4().hex
        self.built: dict[str, Mapping[int, Built]] = {}

    def starts(self) -> dict[str, Callable[[], Query]]:
        """What starts the query of each sink."""
        return {name: self._query(name, query) for name, query in self._job.queries.items()}

    def _query(self, name: str, query: QueryPlan) -> Callable[[], Query]:
        raise NotImplementedError

    def release(self) -> None:
        """Give back what the queries have used together."""

    def _build(self, name: str, context: TranslationContext) -> tuple[Stream, Sink]:
        """The rows of a sink, and its node."""
        (node,) = (n for n in context.plan.nodes if isinstance(n, Sink))
        self.built[name] = context.parts.built
        return build_query(context.query, context)[node.id], node

    def _target(self, name: str, node: Sink, stream: Stream, context: TranslationContext) -> Target:
        """What takes the rows of a sink."""
        if self._options.collector is not None:
            return CollectingTarget(self._options.collector, stream, context)
        return self._table(name, node, stream, context)

    def _table(self, name: str, node: Sink, stream: Stream, context: TranslationContext) -> TableTarget:
        writer = _writer(node, stream, self._record.query(name), context)
        return TableTarget(writer, context.parts.late_counters)

    def _context(
        self, query: QueryPlan, spark: SparkSession, *, common: SharedStreams | None = None
    ) -> TranslationContext:
        mode = self._job.mode
        return TranslationContext(
            spark,
            query,
            python=self._options.python,
            python_job=self._python_job,
            is_closed=(*self._record.modes, mode.value)[0] == Mode.BOUNDED.value,
            is_timed=uses_watermark(query),
            common=common,
            tells_lag=self._options.tells_lag,
            files_per_batch=None if mode is Mode.BOUNDED else self._options.files_per_batch,
            saved_states=self._options.saved_states,
        )

    def _partitions(self, nodes: Iterable[ExecNode]) -> int | None:
        """In how many partitions rows are brought together; ``None``: as the session says."""
        if PARTITIONS in self._options.conf or self._job.mode is not Mode.BOUNDED:
            return None
        return partitions_for(nodes, self._options.variables, self._spark.sparkContext.defaultParallelism)


class Streams(_Queries):
    """Queries in micro-batches, whose state is in the checkpoint."""

    def _surroundings(self, name: str, query: QueryPlan) -> tuple[SharedRows, Any, TranslationContext]:
        rows = SharedRows(query.plan, self._spark)
        reached = reached_watermarks(query.plan, self._spark, self._record.query(name), self._job.mode)
        return rows, reached, replace(self._context(query, self._spark), common_rows=rows, reached=reached)

    def frame(self, name: str, query: QueryPlan) -> DataFrame:
        """What the query of a sink makes before anything writes it."""
        rows, _, context = self._surroundings(name, query)
        stream, _ = self._build(name, context)
        return rows.settle(stream.frame)

    def _query(self, name: str, query: QueryPlan) -> Callable[[], Query]:
        mode = self._job.mode
        rows, reached, context = self._surroundings(name, query)
        stream, node = self._build(name, context)
        target = self._target(name, node, stream, context)
        # two jobs at once may have the same sink, but not the same checkpoint
        own_name = f"{name}, {self._record.place}"
        frame = rows.settle(stream.frame)
        writer = frame.writeStream.queryName(own_name).outputMode("append")
        writer = writer.option("checkpointLocation", str(self._record.query(name)))
        if mode is Mode.STREAMING:
            writer = writer.trigger(processingTime=f"{int(self._options.trigger_interval * 1000)} milliseconds")
        else:
            writer = writer.trigger(availableNow=True)
        target.take_batches_of(writer, rows, reached)

        def start() -> StreamingQuery:
            conf = self._spark.conf
            if (partitions := self._partitions(query.plan.nodes)) is not None:
                conf.set(PARTITIONS, str(partitions))
            conf.set(STATE_ENCODING, "unsaferow" if query.has_native_state else "avro")
            conf.set(EMPTY_BATCHES, str(mode is Mode.STREAMING and goes_by_clock(query.plan)).lower())
            if self._options.clock is not None:
                return start_at(self._options.clock, writer, frame, own_name, str(self._record.query(name)))
            return writer.start()

        return lambda: StreamQuery(name, query, self._names, self._record, start, target)


class _RealTime(_Queries):
    """Queries whose operators see each row when it comes; their state is in the checkpoint."""

    def starts(self) -> dict[str, Callable[[], Query]]:
        self._session = copy_of(self._spark)
        self._session.conf.set(OUTPUT_MODE, "update")
        self._session.conf.set(STATE_ENCODING, "avro")
        self._session.conf.set(ASYNC_PROGRESS, "false")
        # what has expired is not seen any more; removing it writes all that is in memory, which waits for the end
        self._session.conf.set(EVICTION_INTERVAL, str(int(self._options.checkpoint_interval * 2000)))
        return super().starts()

    def _query(self, name: str, query: QueryPlan) -> Callable[[], Query]:
        waits = any(waits_for_watermark(node, query) for node in query.plan.nodes)
        by_clock = tells_time(query.plan)
        reached = reached_watermarks(query.plan, self._session, self._record.query(name), self._job.mode)
        context = self._context(query, self._session)
        context = replace(context, announces=waits and not by_clock, tells_time=by_clock, reached=reached)
        stream, node = self._build(name, context)
        target = self._table(name, node, stream, context)
        runtime = context.runtime
        frame = context.frame(runtime.sink.RealTimeWriter.rows(runtime.realtime.Clock.moving(stream.frame._jdf)))
        writer = frame.writeStream.queryName(f"{name}, {self._record.place}").outputMode("update")
        writer = writer.option("checkpointLocation", str(self._record.query(name)))
        assert self._spark._jvm is not None
        triggers = self._spark._jvm.org.apache.spark.sql.streaming.Trigger
        trigger = triggers.RealTime(int(self._options.checkpoint_interval * 1000))
        writer._jwrite.trigger(trigger).foreach(target.java)
        return lambda: RealTimeQuery(name, query, self._names, self._record, writer.start, target)


class _Batches(_Queries):
    """Queries over all rows at once, which have no state."""

    def starts(self) -> dict[str, Callable[[], Query]]:
        plan = self._job.plan
        self._common = SharedStreams(plan, lambda node: reads_little(node, self._options.variables))
        assert self._spark._jvm is not None
        self._spark._jvm.flinkplan.runtime.batch.HashJoins.add(self._spark._jsparkSession)
        self._batch = copy_of(self._spark)
        if ADVISORY_BYTES not in self._options.conf:
            self._batch.conf.set(ADVISORY_BYTES, "8MB")
        partitions = self._partitions(plan.nodes)
        if partitions is not None:
            self._batch.conf.set(PARTITIONS, str(partitions))
        self._batch.conf.set(ADAPTIVE, str(partitions != 1).lower())
        self._batch.conf.set(COMPRESSED_ROWS, "false")
        return super().starts()

    def release(self) -> None:
        self._common.release()

    def _query(self, name: str, query: QueryPlan) -> Callable[[], Query]:
        context = self._context(query, self._batch, common=self._common)
        stream, node = self._build(name, context)
        target = self._target(name, node, stream, context)
        is_local = self._spark.sparkContext._jsc.isLocal()

        def write(frame: DataFrame, batch: int) -> None:
            if not is_local or self._common.drops_late_rows(query.plan):
                self._common.compute(query.plan)
            target.take(frame, batch)

        return lambda: BatchQuery(name, query, self._names, self._record, stream.frame, write, target).start()


def _writer(node: Sink, stream: Stream, location: Place, context: TranslationContext) -> Any:
    """What writes the batches that reach a sink, in Java."""
    table = table_of(node.dynamic_table_sink.table, context.variables)
    names = [name for name, _ in table.physical]
    key = [names.index(name) for name in table.primary_key] or node.input_upsert_key or ()
    keys = [sink_order(table).index(i) for i in key]
    builder = builder_of(table)
    if (own := builder.python_writer(table, node, stream, keys, context)) is not None:
        return own
    spec = {
        **builder.writer(table, context),
        "changelog": stream.changelog,
        "keys": keys,
        "published": str(location / "published"),
    }
    writers = context.runtime.sink
    if context.is_real_time:
        return writers.RealTimeWriter(context.spark._jsparkSession, json.dumps(spec), str(location))
    return (writers.ColumnarWriter if "columnar" in spec else writers.BatchWriter)(json.dumps(spec))


__all__ = ["ExecutionError", "Job", "JobOptions", "Mode", "Query", "TableError", "execute"]

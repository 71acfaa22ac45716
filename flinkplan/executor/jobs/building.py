"""Makes the queries of a job from its plan: streams, streams in real-time mode, or batches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ...plan.clock import goes_by_clock, tells_time
from ...plan.connectors import has_key, sink_kinds
from ...plan.document import Plan
from ...plan.files import Place
from ...plan.names import node_names
from ...plan.nodes import ExecNode, Sink
from ...plan.record import replace
from ...plan.specs import RowKind
from ...plan.tables import with_options
from ...state.checkpoint import CheckpointRecord
from ...state.counts import kept_watermarks
from ..build.connectors import builder_of
from ..build.context import Built, TranslationContext
from ..build.java_functions import call_column
from ..build.operators.tables import sink_key
from ..build.registry import build_query
from ..build.sharing import SharedRows, SharedStreams
from ..build.stream import Stream
from ..build.time.source_watermarks import reached_watermarks
from ..connectors.tables import table_of
from ..jvm.session import (
    ADAPTIVE,
    ADVISORY_BYTES,
    ALLOWLIST,
    ASYNC_PROGRESS,
    COMPRESSED_ROWS,
    EMPTY_BATCHES,
    EVICTION_INTERVAL,
    OUTPUT_MODE,
    PARTITIONS,
    STATE_ENCODING,
    copy_of,
    settings_of,
)
from ..prepare.job_plan import JobPlan
from ..prepare.known.input_size import partitions_for, reads_little
from ..prepare.known.source_names import source_names
from ..prepare.known.sources import scan_below
from ..prepare.modes import Mode
from ..prepare.query import QueryPlan
from ..prepare.watermarks import uses_watermark, waits_for_watermark
from .first_rows import check_first_rows, first_rows, write_first_rows
from .options import JobOptions
from .queries import BatchQuery, Query, RealTimeQuery, StreamQuery
from .starting import start_query
from .targets import CollectingTarget, KeptTarget, TableTarget, Target

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


class Queries:
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
        if (past := self._options.past) is not None:
            return KeptTarget(past.kept / name) if past.kept else self._table(name, _unwritten(node), stream, context)
        return self._table(name, node, stream, context)

    def _table(self, name: str, node: Sink, stream: Stream, context: TranslationContext) -> TableTarget:
        writer = _writer(node, stream, self._record.query(name), context)
        return TableTarget(writer, context.parts.late_counters)

    def _takes_deletes(self, node: Sink) -> bool:
        """Whether the table of a sink takes rows that are taken back."""
        if self._options.collector is not None:
            return False
        table = node.dynamic_table_sink.table
        options = (table.resolved_table.options or {}) if table.resolved_table else {}
        return RowKind.DELETE in sink_kinds(options, has_key(table.resolved_table), inserts_only=False)

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
            given=self._options.past.rows if self._options.past is not None else {},
            saved_states=self._options.saved_states,
            java_jars=self._options.java_jars,
            java_calls=call_column,
        )

    def _partitions(self, nodes: Iterable[ExecNode]) -> int | None:
        """In how many partitions rows are brought together; ``None``: as the session says."""
        if PARTITIONS in self._options.conf or self._job.mode is not Mode.BOUNDED:
            return None
        return partitions_for(nodes, self._options.variables, self._spark.sparkContext.defaultParallelism)


class Streams(Queries):
    """Queries in micro-batches, whose state is in the checkpoint."""

    def _surroundings(self, name: str, query: QueryPlan) -> tuple[SharedRows, Any, TranslationContext]:
        rows = SharedRows(query.plan, self._spark)
        reached = reached_watermarks(query.plan, self._spark, self._record.query(name), self._job.mode)
        context = self._context(query, self._spark)
        advanced = self._advanced(query.plan, self._record.query(name))
        return rows, reached, replace(context, common_rows=rows, reached=reached, advanced=advanced)

    def _advanced(self, plan: Plan, location: Place) -> dict[int, int]:
        """The watermarks that sources move on to, by the ids of their assigners.

        Those that do not move are named, too: Spark waits for the watermark of each source anew after a restart.
        """
        wanted = self._options.watermarks
        if not wanted or self._job.mode is not Mode.AVAILABLE_NOW:
            return {}
        kept, advanced = kept_watermarks(location), {}
        for node_id, name in source_names(plan).items():
            scan = scan_below(plan.by_id[node_id], plan)
            table = "" if scan is None else scan.scan_table_source.table.name
            times = [time for time in (wanted.get(table), kept.get(name)) if time is not None]
            if times:
                advanced[node_id] = max(times)
        return advanced

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
        written = target.planned(rows.settle(stream.frame))
        frame = context.frame(context.runtime.planning.PlannedOnce.of(written._jdf))
        sink = target.sink(frame, rows, reached)
        assert self._spark._jvm is not None
        triggers = self._spark._jvm.org.apache.spark.sql.streaming.Trigger
        if mode is Mode.STREAMING:
            trigger = triggers.ProcessingTime(int(self._options.trigger_interval * 1000))
        else:
            trigger = triggers.AvailableNow()

        settings = {
            STATE_ENCODING: "unsaferow" if query.has_native_state else "avro",
            EMPTY_BATCHES: str(mode is Mode.STREAMING and goes_by_clock(query.plan)).lower(),
        }
        if (partitions := self._partitions(query.plan.nodes)) is not None:
            settings[PARTITIONS] = str(partitions)

        def start() -> StreamingQuery:
            first = first_rows(self._record, name, stream, takes_deletes=self._takes_deletes(node))
            if first is not None:
                is_like_query = first.changelog == stream.changelog
                first_target = target if is_like_query else self._table(name, node, first, context)
                write_first_rows(self._record, name, first, first_target)
            with settings_of(self._spark, settings):  # the query keeps those that it starts with
                location = str(self._record.query(name))
                clock = self._options.clock
                return start_query(frame, sink, name=own_name, checkpoint=location, trigger=trigger, clock=clock)

        ends = mode is Mode.BOUNDED
        return lambda: StreamQuery(name, query, self._names, self._record, start, target, ends=ends)


class RealTimes(Queries):
    """Queries whose operators see each row when it comes; their state is in the checkpoint."""

    def starts(self) -> dict[str, Callable[[], Query]]:
        self._session = copy_of(self._spark)
        self._session.conf.set(OUTPUT_MODE, "update")
        self._session.conf.set(STATE_ENCODING, "avro")
        self._session.conf.set(ASYNC_PROGRESS, "false")
        self._session.conf.set(ALLOWLIST, "false")
        # what has expired is not seen any more; removing it writes all that is in memory, which waits for the end
        self._session.conf.set(EVICTION_INTERVAL, str(int(self._options.checkpoint_interval * 2000)))
        return super().starts()

    def _query(self, name: str, query: QueryPlan) -> Callable[[], Query]:
        check_first_rows(self._record, name)
        waits = any(waits_for_watermark(node, query) for node in query.plan.nodes)
        by_clock = tells_time(query.plan)
        reached = reached_watermarks(query.plan, self._session, self._record.query(name), self._job.mode)
        context = self._context(query, self._session)
        context = replace(context, announces=waits and not by_clock, tells_time=by_clock, reached=reached)
        stream, node = self._build(name, context)
        target = self._table(name, node, stream, context)
        runtime = context.runtime
        table = table_of(node.dynamic_table_sink.table, context.variables)
        rows = builder_of(table).rows_one_by_one(table, node, stream, context)
        planned = runtime.planning.PlannedOnce.of(runtime.realtime.Clock.moving(rows._jdf))
        frame = context.frame(runtime.sink.RealTimeWriter.rows(planned))
        writer = frame.writeStream.queryName(f"{name}, {self._record.place}").outputMode("update")
        writer = writer.option("checkpointLocation", str(self._record.query(name)))
        assert self._spark._jvm is not None
        triggers = self._spark._jvm.org.apache.spark.sql.streaming.Trigger
        trigger = triggers.RealTime(int(self._options.checkpoint_interval * 1000))
        writer._jwrite.trigger(trigger).foreach(target.java)
        return lambda: RealTimeQuery(name, query, self._names, self._record, writer.start, target)


class Batches(Queries):
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

    def stream(self, name: str, query: QueryPlan, known: SharedStreams) -> Stream:
        """The rows of a sink, over streams that are known."""
        return self._build(name, self._context(query, self._spark, common=known))[0]

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


def _unwritten(node: Sink) -> Sink:
    """The sink with a table that takes all and keeps nothing."""
    spec = node.dynamic_table_sink
    table = with_options(spec.table, {"connector": "blackhole"})
    return replace(node, dynamic_table_sink=replace(spec, table=table, abilities=None))


def _writer(node: Sink, stream: Stream, location: Place, context: TranslationContext) -> Any:
    """What writes the batches that reach a sink, in Java."""
    table = table_of(node.dynamic_table_sink.table, context.variables)
    keys = sink_key(node, table)
    builder = builder_of(table)
    is_own = not context.is_real_time
    if is_own and (own := builder.python_writer(table, node, stream, keys, context)) is not None:
        return own
    spec = {
        **builder.writer(table, context),
        "changelog": stream.changelog,
        "keys": keys,
        "published": str(location / "published"),
        "pending": str(location / "pending-partitions"),
    }
    if node.dynamic_table_sink.overwrites:
        spec["overwrites"] = {"partition": dict(node.dynamic_table_sink.static_partition)}
    writers = context.runtime.sink
    if context.is_real_time:
        return writers.RealTimeWriter(context.spark._jsparkSession, json.dumps(spec), str(location))
    if "columnar" not in spec:
        return writers.BatchWriter(json.dumps(spec))
    return writers.ColumnarWriter(json.dumps(spec), builder.table_log(table, context))

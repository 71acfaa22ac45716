"""Warming up: the state that a plan has of bounded history, before its job begins.

The history of tables goes through the plan in the order of event time across all tables, slice by slice, with the
clock at the end of each slice: so watermarks, and TTLs, are those of the rows' own times.  Sinks are not written.  What
the operators then keep becomes the checkpoint from which the job begins, with its sources where their options say.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial, reduce
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from ...plan.document import Plan
from ...plan.durations import parse_duration
from ...plan.errors import FlinkplanError
from ...plan.files import Place
from ...plan.nodes import Calc, Sink, TableSourceScan, WatermarkAssigner
from ...plan.record import Record, replace
from ...plan.rex import InputRef, RexNode, transform
from ...plan.specs import ContextResolvedTable, RowKind
from ...plan.tables import with_options
from ...plan.uids import Uids
from ...state.checkpoint import CheckpointRecord
from ...state.form import OperatorState
from ...state.operators import operators_of
from ..build.context import TranslationContext
from ..build.operators.tables import sink_key
from ..build.registry import build_query
from ..build.stream import DELETE, KIND, ORDER, SEQUENCE, UPDATE_AFTER, Stream
from ..connectors.tables import table_of
from ..jobs.failures import describe_failure
from ..jobs.job import Job, execute
from ..jobs.options import JobOptions, PastRows
from ..jobs.progress import SilentListener
from ..jvm.session import chosen_settings, copy_of, session
from ..jvm.spark import F, sql
from ..prepare.job_plan import JobSettings, prepare, queries_of
from ..prepare.modes import Mode
from ..prepare.query import QueryPlan
from ..scratch import temporary_folder
from .contents import NUMBER, counted_rows
from .job_state import CheckpointState
from .move import write_checkpoint
from .positions import names_of
from .predecessor import Predecessor

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TIME, _SLICE, _PLACE = "__time", "__slice", "__place"
_ROWS, _WAITING = "rows", "waiting"
_MOST_SLICES = 200
_SLICES_OF_TTL = 16
_BEFORE_ALL = -(2**59)
"""The numbers of the rows of history begin here, before those of all rows that are still to come."""
_NUMBERS = 2**58
"""How many numbers there are for them."""
_FORMAT = "format"

Notify = Callable[[str], None]
"""Gets a sentence on how far the history has been read."""


class WarmUpError(FlinkplanError):
    """History that a plan cannot be warmed up with (exit code 3)."""


class WarmUp(Record):
    """History: the options of a table over it, by the name of the table.

    ``emits``: the sinks get what they have at its end.
    """

    tables: Mapping[str, Mapping[str, str]]
    emits: bool = False

    def by_scan(self, plan: Plan) -> dict[int, Mapping[str, str]]:
        """The options by the ids of the scans of a plan.  Raises :class:`WarmUpError` for a table that is not read."""
        scans = [node for node in plan.nodes if isinstance(node, TableSourceScan)]
        known = {name for scan in scans for name in names_of(scan)}
        for name in self.tables:
            if name not in known:
                read = ", ".join(sorted({scan.scan_table_source.table.name for scan in scans}))
                raise WarmUpError(f"the plan reads no table '{name}'", hint=f"it reads {read}")
        pairs = ((scan.id, o) for scan in scans for name, o in self.tables.items() if name in names_of(scan))
        return dict(pairs)


class Past(Record):
    """What a plan is run over: the options of the tables that have the rows of each scan, by its id; others have none.

    ``is_timed``: the rows come in the order of event time, with the clock at their times; else in that of the tables.
    """

    tables: Mapping[int, Sequence[Mapping[str, str]]]
    is_timed: bool = True
    emits: bool = False


def execute_warm(plan: Plan, options: JobOptions, warm_up: WarmUp, notify: Notify) -> Job:
    """Start a plan whose operators know the history; a job that has begun goes on from its checkpoint.

    Raises as :func:`execute`, and :class:`WarmUpError` where the history does not fit the plan.
    """
    assert options.checkpoint is not None
    if CheckpointRecord(options.checkpoint).exists:
        notify("the job has begun: its history is not read again")
        return execute(plan, options)
    spark = options.spark or session(options.master, chosen_settings(options.conf), lean=options.lean)
    write_warm(plan, options.checkpoint, warm_up, spark, options, notify)
    return execute(plan, options)


def write_warm(
    plan: Plan, checkpoint: str, warm_up: WarmUp, spark: SparkSession, options: JobOptions, notify: Notify
) -> None:
    """Write the checkpoint from which the job of a plan goes on after its history; it appears whole or not at all.

    Raises :class:`WarmUpError`, and :class:`StateError` where there is something already.
    """
    if options.mode is Mode.REAL_TIME:
        raise WarmUpError("real-time mode cannot go on from a checkpoint of micro-batches", hint="choose another mode")
    target = Place.of(checkpoint).local
    if target is None:
        raise WarmUpError("the checkpoint of a warm-up is written into a local directory", where=checkpoint)
    if target.is_dir() and not any(target.iterdir()):
        target.rmdir()  # it appears whole
    operators = operators_of(plan, Uids(options.options))
    tables = {scan: [table] for scan, table in warm_up.by_scan(plan).items()}
    past = Past(tables, emits=warm_up.emits)
    with state_after(past, plan, operators, spark, options, notify) as (state, kept):
        nodes = [node.id for node in plan.nodes]
        predecessor = Predecessor(state, {node: node for node in nodes}, nodes)
        own = copy_of(spark)
        for name, value in predecessor.settings.items():
            own.conf.set(name, value)
        first = {} if kept is None else dict(_emitted(plan, kept, own, options.variables))
        write_checkpoint(
            plan, state, checkpoint, own, options, predecessor=predecessor, first_rows=first, has_history=True
        )


@contextmanager
def state_after(
    past: Past,
    plan: Plan,
    operators: tuple[OperatorState, ...],
    spark: SparkSession,
    options: JobOptions,
    notify: Notify = lambda sentence: None,
) -> Iterator[tuple[CheckpointState, Path | None]]:
    """The state of a plan after its history, as ``operators`` keep it, and the folder of the sinks' rows, if any.

    Raises :class:`WarmUpError` where the history does not fit the plan.
    """
    folder = temporary_folder("warm-up-")
    try:
        rows = _Rows(plan, past, folder, spark, options)
        kept = folder / "sinks" if past.emits else None
        work = str(folder / "checkpoint")
        own = replace(
            options,
            checkpoint=work,
            spark=spark,
            mode=Mode.AVAILABLE_NOW,
            durable=False,
            single=False,
            listener=SilentListener(),
            tells_lag=False,
            past=PastRows({node: partial(rows.stream, node) for node in rows.streams}, kept),
        )
        for time in rows.slices(notify):
            execute(plan, replace(own, clock=time)).wait()
        with CheckpointState(plan, work, operators, spark, own, is_partial=True) as state:
            yield state, kept
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Rows:
    """The rows of history in files of Spark below ``folder``, one folder for each scan, slice by slice."""

    def __init__(self, plan: Plan, past: Past, folder: Path, spark: SparkSession, options: JobOptions) -> None:
        from py4j.protocol import Py4JJavaError

        self._folder = folder
        self._spark = spark
        self._options = options
        self.streams: dict[int, Stream] = {}
        settings = JobSettings(options.variables, options.options, streams=True)
        self._run = prepare(plan, Mode.AVAILABLE_NOW, settings).plan
        (folder / "none").mkdir()
        frames = {}
        for scan in self._run.nodes:
            if isinstance(scan, TableSourceScan):
                given = past.tables.get(scan.id, ())
                read = [self._read(scan, table) for table in given or [self._nothing(scan)]]
                self.streams[scan.id], _ = read[0]
                self._place(scan.id).mkdir(parents=True)
                if given:
                    numbered = (frame.withColumn(_PLACE, F.lit(i)) for i, (_, frame) in enumerate(read))
                    frames[scan.id] = reduce(lambda one, other: one.unionByName(other), numbered)
        write = self._write if past.is_timed else self._write_as_they_are
        try:
            self._times = write(frames)
        except Py4JJavaError as e:
            failure = describe_failure(e.java_exception, "it cannot be read", Place.of(folder))
            raise WarmUpError(failure.message, where=failure.where or "the history", hint=failure.hint) from None

    def _place(self, scan: int) -> Path:
        return self._folder / _ROWS / str(scan)

    def stream(self, node: int, spark: SparkSession) -> Stream:
        """The rows of a scan, as a stream of the slices so far."""
        known = self.streams[node]
        place = str(self._place(node))
        return replace(known, frame=spark.readStream.schema(known.frame.schema).parquet(place))

    def slices(self, notify: Notify) -> Iterator[int | None]:
        """The times at the ends of slices, ``None`` where rows have no times.

        The files of a slice are where scans read when its time is yielded.
        The last slice has no rows: in it the watermark of those before takes effect.
        """
        has_rows = False
        for number, time in enumerate(self._times):
            places = {scan: self._folder / _WAITING / str(scan) / f"{_SLICE}={number}" for scan in self.streams}
            if not any([self._move_files(scan, place, number) for scan, place in places.items()]):
                continue
            has_rows = True
            yield time
            if time is not None:
                notify(f"history up to {datetime.fromtimestamp(time / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC has been read")
        if not has_rows or any(isinstance(node, WatermarkAssigner) for node in self._run.nodes):
            empty = self._folder / "empty"
            for scan, stream in self.streams.items():
                stream.frame.limit(0).write.mode("overwrite").parquet(str(empty))
                self._move_files(scan, empty, len(self._times))
            yield self._times[-1]

    def _move_files(self, scan: int, folder: Path, number: int) -> bool:
        """Move the files of a folder to where a scan reads; whether there are some."""
        files = sorted(folder.glob("*.parquet"))
        for file in files:
            file.rename(self._place(scan) / f"{number}-{file.name}")
        return bool(files)

    def _nothing(self, scan: TableSourceScan) -> Mapping[str, str]:
        """The options of a table without rows."""
        own = _format_of(scan.scan_table_source.table)
        return {"connector": "filesystem", "path": str(self._folder / "none"), **own}

    def _read(self, scan: TableSourceScan, options: Mapping[str, str]) -> tuple[Stream, DataFrame]:
        """The rows of a table as a scan would have them, and the same with their times."""
        table = scan.scan_table_source.table
        source = replace(scan.scan_table_source, table=with_options(table, options))
        part = Plan(self._run.flink_version, (replace(scan, scan_table_source=source),), ())
        query = QueryPlan(part, self._run, Mode.BOUNDED, True, False, self._options.variables, self._options.options)
        context = TranslationContext(self._spark, query, saved_states=self._options.saved_states)
        try:
            stream = build_query(query, context)[scan.id]
        except FlinkplanError as e:
            raise WarmUpError(e.message, where=f"the history of {table.name}", hint=e.hint) from None
        rex = self._rowtime(scan)
        time = F.lit(None).cast("bigint")
        if rex is not None:
            time = F.unix_millis(replace(context, node=scan).expression(rex, stream))
        return stream, stream.frame.withColumn(_TIME, time)

    def _rowtime(self, scan: TableSourceScan) -> RexNode | None:
        """The time of a scan's rows, over its columns; ``None`` where nothing asks for it."""
        for assigner in self._run.nodes:
            calcs: list[Calc] = []
            node = assigner
            if not isinstance(assigner, WatermarkAssigner):
                continue
            while not isinstance(node, TableSourceScan):
                if isinstance(node, Calc):
                    calcs.append(node)
                inputs = self._run.inputs(node)
                if len(inputs) != 1:
                    break
                (node,) = inputs
            if node is not scan:
                continue
            fields = self._run.inputs(assigner)[0].fields
            rex: RexNode = InputRef(assigner.rowtime_field_index, fields[assigner.rowtime_field_index].type)
            for calc in calcs:
                rex = transform(rex, partial(_projected, calc))
            return rex
        return None

    def _write_as_they_are(self, frames: Mapping[int, DataFrame]) -> Sequence[int | None]:
        """Write the rows as one slice."""
        for scan, frame in frames.items():
            frame.drop(_TIME, _PLACE).write.parquet(str(self._folder / _WAITING / str(scan) / f"{_SLICE}=0"))
        return [None]

    def _write(self, frames: Mapping[int, DataFrame]) -> Sequence[int | None]:
        """Write rows by slices, numbered in the order of time; the times at the ends of slices."""
        places = {scan: self._folder / "unordered" / str(scan) for scan in frames}
        for scan, frame in frames.items():
            frame.write.parquet(str(places[scan]))
        read = {
            scan: self._spark.read.schema(frame.schema).parquet(str(places[scan])) for scan, frame in frames.items()
        }
        bounds = [frame.agg(F.min(_TIME), F.max(_TIME)).first() for frame in read.values()]
        times = [time for row in bounds if row is not None for time in row if time is not None]
        first, last = min(times, default=0), max(times, default=0)
        width = self._width(first, last) if times else 1
        counts = [
            row[0]
            for frame in read.values()
            if (row := frame.groupBy(_TIME).count().agg(F.max("count")).first()) is not None
        ]
        most = max((count or 0 for count in counts), default=0)
        step = min((most + 1) * len(read) or 1, max(1, _NUMBERS // (last - first + 1)))
        for place, (scan, frame) in enumerate(read.items()):
            time = F.coalesce(F.col(_TIME), F.lit(first))
            window = sql.Window.partitionBy(time).orderBy(_PLACE, SEQUENCE)
            number = (time - F.lit(first)) * F.lit(step) + (F.row_number().over(window) - 1) * len(read) + place
            rows = frame.withColumn(_SLICE, F.floor((time - F.lit(first)) / F.lit(width)).cast("int"))
            rows = rows.withColumn(SEQUENCE, (number + F.lit(_BEFORE_ALL)).cast("bigint")).drop(_TIME, _PLACE)
            target = str(self._folder / _WAITING / str(scan))
            rows.repartition(_SLICE).sortWithinPartitions(_SLICE, SEQUENCE).write.partitionBy(_SLICE).parquet(target)
        if not times:
            return [None]
        return [min(last, first + (i + 1) * width - 1) for i in range((last - first) // width + 1)]

    def _width(self, first: int, last: int) -> int:
        """How long slices are: the whole time where nothing goes by the clock, else a part of the shortest TTL."""
        ttls = [parse_duration(state.ttl) for node in self._run.nodes for state in node.states]
        shortest = min((ttl for ttl in ttls if ttl), default=None)
        if shortest is None:
            return last - first + 1
        return max(1, shortest // _SLICES_OF_TTL, ceil((last - first + 1) / _MOST_SLICES))


def _projected(calc: Calc, rex: RexNode) -> RexNode:
    return calc.projection[rex.index] if isinstance(rex, InputRef) else rex


def _format_of(table: ContextResolvedTable) -> dict[str, str]:
    """The format of a table's rows, with its options, as a table of files has them."""
    options = table.options
    name = options.get(_FORMAT) or options.get("value.format") or "json"
    own = {k.removeprefix("value."): v for k, v in options.items() if k.removeprefix("value.").startswith(f"{name}.")}
    return {_FORMAT: name, **own}


def _emitted(
    plan: Plan, kept: Path, spark: SparkSession, variables: Mapping[str, str]
) -> Iterator[tuple[str, DataFrame]]:
    """What each sink has at the end of the history, by the name of its query."""
    for name, part in queries_of(plan).items():
        folder = kept / name
        if not folder.exists():
            continue
        (sink,) = (node for node in part.nodes if isinstance(node, Sink))
        frame = spark.read.parquet(str(folder))
        names = [c for c in frame.columns if c.startswith("c") and c[1:].isdigit()]
        if KIND not in frame.columns:
            yield name, counted_rows(frame.select(*names, F.lit(1).alias(NUMBER)), names)
            continue
        by_key = RowKind.UPDATE_BEFORE not in sink.input_kinds and RowKind.UPDATE_AFTER in sink.input_kinds
        key = sink_key(sink, table_of(sink.dynamic_table_sink.table, variables)) if by_key else []
        if not key:
            sign = F.when(F.col(KIND).isin(0, UPDATE_AFTER), 1).otherwise(-1)
            yield name, counted_rows(frame.select(*names, sign.alias(NUMBER)), names)
            continue
        order = [c for c in ("batch", SEQUENCE, ORDER) if c in frame.columns]
        window = sql.Window.partitionBy(*(f"c{i}" for i in key)).orderBy(*(F.col(c).desc() for c in order))
        last = frame.withColumn(_SLICE, F.row_number().over(window)).where(
            (F.col(_SLICE) == 1) & (F.col(KIND) != DELETE)
        )
        yield name, counted_rows(last.select(*names, F.lit(1).alias(NUMBER)), names)

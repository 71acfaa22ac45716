"""Running a plan as queries of Spark."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...plan.document import Plan
from ...plan.errors import FlinkplanError, UnsupportedError
from ...plan.nodes import Sink, WatermarkAssigner
from ...plan.record import replace
from ...plan.session import session_options
from ...plan.settings import is_batch_mode
from ...state.checkpoint import CheckpointInUseError, CheckpointRecord
from ..build.context import Built
from ..errors import ExecutionError, TableError
from ..jvm.exceptions import is_end_of_jvm
from ..jvm.session import (
    PARTITIONS,
    REAL_TIME_CONF,
    SQL_CONF,
    STATE_ENCODING,
    Lifetime,
    check_reach,
    chosen_settings,
    session,
)
from ..prepare.checks import check_executable
from ..prepare.former_functions import with_former_functions
from ..prepare.job_plan import JobPlan, JobSettings, default_mode, prepare
from ..prepare.known.input_size import is_small
from ..prepare.modes import Mode
from ..prepare.python_classes import check_allowed
from ..prepare.real_time import check_real_time, unshared
from ..scratch import temporary_folder
from .building import Batches, RealTimes, Streams
from .counting import JobCounter
from .failures import end_of_jvm
from .options import JobOptions
from .progress import JobListener
from .queries import Query
from .slots import check_interval, check_slots, master_with, slots_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POLL_SECONDS = 0.1


class Job:
    """A plan at work.  Made by :func:`execute`.

    ``names`` are those of its queries, ``temporary`` a folder that goes with it.  ``plan`` is what it runs, ``built``
    what has been built of each query's nodes, ``counter`` what adds up its batches, ``record`` that of its checkpoint.
    """

    def __init__(
        self,
        plan: JobPlan,
        listener: JobListener,
        record: CheckpointRecord,
        lock: Any,
        temporary: Path | None,
        counter: JobCounter,
    ) -> None:
        self.counter = counter
        self.queries: list[Query] = []
        self.built: Mapping[str, Mapping[int, Built]] = {}
        self.plan = plan
        self.mode = plan.mode
        self.record = record
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
            self.record.begin(plan, self.mode.value, options)
            for start in queries.values():
                self.queries.append(start())
            self.record.started({query.sink: query.id for query in self.queries})
        except BaseException:
            self.stop()
            self._put_back()
            raise

    def _put_back(self) -> None:
        """Record what was recorded before, unless a batch has begun since, or a query is done."""
        is_any_done = any(self.record.is_done(name) for name in self._sinks)
        if self.record.batches(self._sinks) == self._batches and not is_any_done:
            self.record.put_back(self._recorded)

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
            self.record.end()
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
            self.counter.save(at_once=True)
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
                self.counter.add(progress)
                self._listener.batch_done(progress)
        self.counter.save()


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
    check_allowed(plan, options.python)
    check_executable(plan, options.variables, options.options, options.databases)
    mode = resolve_mode(plan, options)
    settings = JobSettings(options.variables, options.options, options.collector is not None, options.streams)
    job_plan = prepare(_as_begun(plan, options.checkpoint), mode, settings)
    if mode is Mode.REAL_TIME:
        _check_real_time(job_plan, options)
        job_plan = replace(job_plan, queries={name: unshared(query) for name, query in job_plan.queries.items()})
    if options.checkpoint is not None:
        record = CheckpointRecord(options.checkpoint)
        if job_plan.is_batch and record.is_begun(job_plan.queries):
            if plan.is_batch or is_batch_mode(options.options):
                raise UnsupportedError(
                    f"the checkpoint {options.checkpoint} is of a streaming job, and this one is of batch mode",
                    hint="name another directory: a batch job starts without state",
                )
            job_plan = job_plan.in_micro_batches
        if not job_plan.is_batch:  # as the first batch has fixed it
            job_plan = job_plan.in_kernels(
                name for name in job_plan.queries if record.settings(name).get(STATE_ENCODING) == "avro"
            )
        _check_record(record, job_plan)
    _check_overwrites(job_plan)
    if options.spark is None:
        options = replace(options, conf=chosen_settings(options.conf))
    if mode is Mode.REAL_TIME:
        spark = _real_time_session(job_plan, options)
    else:
        spark = options.spark or session(
            options.master, options.conf, lifetime=_lifetime(plan, mode, options), lean=options.lean
        )
    temporary = temporary_folder("checkpoint-") if options.checkpoint is None else None
    record = CheckpointRecord(options.checkpoint or str(temporary), options.checkpoint is not None and options.durable)
    lock = _lock(record, spark)
    try:
        is_kept = options.checkpoint is not None and options.collector is None
        counter = JobCounter(plan, mode.value, record, is_kept=is_kept)
        job = Job(job_plan, options.listener, record, lock, temporary, counter)
        kind = Batches if job_plan.is_batch else RealTimes if mode is Mode.REAL_TIME else Streams
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


def _check_overwrites(job: JobPlan) -> None:
    """Rows replace others only where all of them are written at once."""
    if job.is_batch:
        return
    for node in job.plan.nodes:
        if isinstance(node, Sink) and node.dynamic_table_sink.overwrites:
            raise UnsupportedError(
                f"a job in the mode '{job.mode.value}' cannot overwrite a table: it writes rows as they come",
                where=f"table {node.dynamic_table_sink.table.identifier}",
                hint="--mode bounded reads what is there now; or write INSERT INTO",
            )


def _as_begun(plan: Plan, checkpoint: str | None) -> Plan:
    """The plan with those versions of functions with which the job of a checkpoint has begun."""
    return plan if checkpoint is None else with_former_functions(plan, CheckpointRecord(checkpoint).functions)


def _lifetime(plan: Plan, mode: Mode, options: JobOptions) -> Lifetime:
    """What a session that is started for a job is for."""
    if options.runs_small:
        return Lifetime.SECONDS
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


__all__ = ["ExecutionError", "Job", "JobOptions", "Mode", "Query", "TableError", "execute"]

"""The jobs that a shell has started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

import click

from ...plan.document import Plan
from ...plan.errors import FlinkplanError, UnsupportedError
from ...plan.findings import did_you_mean
from ...plan.nodes import Sink

if TYPE_CHECKING:
    from ...executor.jobs.collecting import Collector
    from ...executor.jobs.job import Job
    from ...planner.sql.ast import StopJob
    from ..signals import Signals
    from .engine import Engine

RUNNING, FINISHED, FAILED, STOPPED = "RUNNING", "FINISHED", "FAILED", "CANCELED"
_CHECKPOINT = "execution.checkpointing.dir"


class ShellJob:
    """A job by its number; ``checkpoint`` is where it keeps its state, unless that goes with it."""

    def __init__(self, number: int, name: str, job: Job, checkpoint: str | None) -> None:
        self.id = str(number)
        self.name = name
        self.status = RUNNING
        self.checkpoint = checkpoint
        self.started = datetime.now().astimezone()
        self._job = job

    def look(self, seconds: float | None = 0) -> FlinkplanError | None:
        """Find out whether it still runs, or wait for its end; what it failed with, if it has failed since."""
        if self.status != RUNNING:
            return None
        try:
            if self._job.wait(seconds):
                self.status = FINISHED
        except FlinkplanError as e:
            self.status = FAILED
            return e
        return None

    def stop(self) -> None:
        """Stop it."""
        self._job.stop()
        self.status = STOPPED


class Jobs:
    """Starts plans as the session's options say (it is a :class:`~flinkplan.table.jobs.Starter`), and knows them."""

    def __init__(self, engine: Engine, signals: Signals) -> None:
        self._engine = engine
        self._signals = signals
        self._jobs: dict[str, ShellJob] = {}

    def __call__(self, plan: Plan, options: Mapping[str, str], *, collector: Collector | None = None) -> Job:
        from ...table.jobs import start

        if not self._engine.is_ready:
            click.echo("Starting Spark…", err=True)

        def begin() -> Job:
            self._engine.wait()
            return start(plan, options, collector=collector)

        job = self._signals.obeyed_by(self._signals.started(begin))
        if collector is None:
            name = options.get("pipeline.name") or job_name(plan)
            started = ShellJob(len(self._jobs) + 1, name, job, options.get(_CHECKPOINT))
            self._jobs[started.id] = started
        return job

    @property
    def newest(self) -> ShellJob:
        """The one that was started last."""
        return next(reversed(self._jobs.values()))

    def __len__(self) -> int:
        return len(self._jobs)

    def changed(self) -> Iterator[tuple[ShellJob, FlinkplanError | None]]:
        """The jobs that have ended since they were last looked at, with what they failed with."""
        for job in self._jobs.values():
            before, error = job.status, job.look()
            if job.status != before:
                yield job, error

    def finish(self) -> Iterator[FlinkplanError]:
        """Wait for what still runs; what it fails with."""
        for job in self._jobs.values():
            if (error := job.look(None)) is not None:
                yield error

    def rows(self) -> list[tuple[str, ...]]:
        """Those of SHOW JOBS: id, name, status and start time."""
        return [(j.id, j.name, j.status, j.started.isoformat(timespec="milliseconds")) for j in self._jobs.values()]

    def stop(self, statement: StopJob) -> str | None:
        """Stop a job; where its state is kept, if that was asked for.

        Raises :class:`FlinkplanError` where there is no such job or none of its state would be kept,
        :class:`UnsupportedError` for WITH DRAIN.
        """
        where = statement.span.location
        job = self._jobs.get(statement.job)
        if job is None:
            hint = did_you_mean(statement.job, self._jobs) or "SHOW JOBS lists them"
            raise FlinkplanError(f"there is no job '{statement.job}'", where=where, hint=hint)
        if statement.with_drain:
            raise UnsupportedError(
                "WITH DRAIN is not supported", where=where, hint="SET 'flinkplan.mode' = 'bounded' ends the input"
            )
        if statement.with_savepoint and job.checkpoint is None:
            raise FlinkplanError(
                f"job '{job.id}' keeps its state in a temporary folder",
                where=where,
                hint=f"SET '{_CHECKPOINT}' = '…' before the job is started",
            )
        job.look()
        if job.status != RUNNING:
            raise FlinkplanError(f"job '{job.id}' has ended: {job.status}", where=where)
        job.stop()
        return job.checkpoint if statement.with_savepoint else None

    def stop_all(self) -> list[ShellJob]:
        """Stop what still runs."""
        running = [job for job in self._jobs.values() if job.look() is None and job.status == RUNNING]
        for job in running:
            job.stop()
        return running


def job_name(plan: Plan) -> str:
    """The name of a job that was given none, as Flink makes it of the sinks."""
    sinks = (node.dynamic_table_sink.table for node in plan.nodes if isinstance(node, Sink))
    return f"insert-into_{','.join(table.identifier.replace('`', '') for table in sinks)}"

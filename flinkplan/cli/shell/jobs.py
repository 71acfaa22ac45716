"""The jobs of a shell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
CHECKPOINT = "execution.checkpointing.dir"


class ShellJob:
    """A job of the shell; ``checkpoint`` is the directory of its state, ``None`` for a temporary one."""

    def __init__(self, id: str, name: str, job: Job, checkpoint: str | None) -> None:
        self.id = id
        self.name = name
        self.status = RUNNING
        self.checkpoint = checkpoint
        self.started = datetime.now().astimezone()
        self._job = job

    def poll(self, seconds: float | None = 0) -> FlinkplanError | None:
        """Update the status, after waiting for the job's end for at most ``seconds``; ``None`` waits without limit.

        Returns the error if the job has failed since the last call.
        """
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
        """Stop the job."""
        self._job.stop()
        self.status = STOPPED


class JobList:
    """The jobs that have been started, by their ids."""

    def __init__(self) -> None:
        self._jobs: dict[str, ShellJob] = {}

    def add(self, id: str, name: str, job: Job, checkpoint: str | None) -> ShellJob:
        """Keep a job that has been started."""
        started = self._jobs[id] = ShellJob(id, name, job, checkpoint)
        return started

    @property
    def newest(self) -> ShellJob:
        """The job that was started last."""
        return next(reversed(self._jobs.values()))

    def __len__(self) -> int:
        return len(self._jobs)

    def changed(self) -> Iterator[tuple[ShellJob, FlinkplanError | None]]:
        """The jobs that have ended since the last call, each with its error if it failed."""
        for job in list(self._jobs.values()):
            before, error = job.status, job.poll()
            if job.status != before:
                yield job, error

    def finish(self) -> Iterator[FlinkplanError]:
        """Wait for the running jobs and yield the errors of those that fail."""
        for job in self._jobs.values():
            if (error := job.poll(None)) is not None:
                yield error

    def rows(self) -> list[tuple[str, ...]]:
        """The rows of SHOW JOBS: id, name, status and start time."""
        return [(j.id, j.name, j.status, j.started.isoformat(timespec="milliseconds")) for j in self._jobs.values()]

    def stop(self, statement: StopJob) -> str | None:
        """Stop a job; returns the directory of its state for WITH SAVEPOINT.

        Raises :class:`FlinkplanError` where there is no such running job, or WITH SAVEPOINT stands on a job whose state
        is temporary, and :class:`UnsupportedError` for WITH DRAIN.
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
                f"job '{job.id}' keeps its state in a temporary directory",
                where=where,
                hint=f"SET '{CHECKPOINT}' = '…' before you start the job",
            )
        job.poll()
        if job.status != RUNNING:
            raise FlinkplanError(f"job '{job.id}' has ended: {job.status}", where=where)
        job.stop()
        return job.checkpoint if statement.with_savepoint else None

    def stop_those(self, ids: Iterable[str]) -> None:
        """Stop those of these jobs that still run."""
        for job in [self._jobs[id] for id in ids if id in self._jobs]:
            if job.poll() is None and job.status == RUNNING:
                job.stop()

    def stop_all(self) -> list[ShellJob]:
        """Stop the running jobs and return them."""
        running = [job for job in self._jobs.values() if job.poll() is None and job.status == RUNNING]
        for job in running:
            job.stop()
        return running


class Jobs(JobList):
    """Starts plans with the session's options, as a :class:`~flinkplan.table.jobs.Starter`, and keeps track of them."""

    def __init__(self, engine: Engine, signals: Signals) -> None:
        super().__init__()
        self._engine = engine
        self._signals = signals

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
            self.add(str(len(self) + 1), name, job, options.get(CHECKPOINT))
        return job


def job_name(plan: Plan) -> str:
    """The default name of a job, which Flink derives from its sinks."""
    sinks = (node.dynamic_table_sink.table for node in plan.nodes if isinstance(node, Sink))
    return f"insert-into_{','.join(table.identifier.replace('`', '') for table in sinks)}"

"""Executes the statements of a session.

Source: Flink's ``OperationExecutor``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, cast
from uuid import uuid4

from ...plan.document import Plan
from ...plan.errors import FlinkplanError
from ...plan.types import STRING, timestamp_ltz
from ...planner.sql import parse_script
from ...planner.sql.ast import (
    AddJar,
    AlterTable,
    AlterView,
    BeginStatementSet,
    CreateCatalog,
    CreateDatabase,
    CreateFunction,
    CreateTable,
    CreateView,
    Describe,
    Drop,
    EndStatementSet,
    Insert,
    ResetOption,
    SetOption,
    Show,
    Statement,
    StatementSet,
    StopJob,
    UseCatalog,
    UseDatabase,
)
from ...table import EnvironmentSettings, QueryResult, TableEnvironment
from ..shell.engine import Engine
from ..shell.jobs import CHECKPOINT, RUNNING, JobList, job_name
from .errors import GatewayError
from .results import Columns, JobRows, Result, Rows

if TYPE_CHECKING:
    from ...executor.jobs.collecting import Collector
    from ...executor.jobs.job import Job

_SLICE = 0.1
"""How long in seconds one thread waits for a job until another has its turn."""
_KEPT_JOBS = 1000
"""How many jobs that have ended SHOW JOBS lists."""
_NOT_IN_SET = (
    "Only 'INSERT/CREATE TABLE AS' statement is allowed in Statement Set or use 'END' statement to submit Statement "
    "Set."
)
_NO_SET = "No Statement Set to submit. 'END' statement should be used after 'BEGIN STATEMENT SET'."
_ONE_STATEMENT = (
    "Unsupported SQL statement! Execute statement only accepts a single SQL statement or multiple 'INSERT INTO' "
    "statements wrapped in a 'STATEMENT SET' block."
)
_CONFIGURING = (
    AddJar,
    AlterTable,
    AlterView,
    CreateCatalog,
    CreateDatabase,
    CreateFunction,
    CreateTable,
    CreateView,
    Drop,
    ResetOption,
    SetOption,
    UseCatalog,
    UseDatabase,
)
"""The statements of configureSession."""
_OK: Columns = (("result", STRING),)


_JOB_COLUMNS: Columns = (
    *((name, STRING) for name in ("job id", "job name", "status")),
    ("start time", timestamp_ltz(6)),
)


class SharedJob:
    """A job for which several threads wait: who asks for its status, and who fetches its rows."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._lock = Lock()
        self._has_ended = False
        self._error: FlinkplanError | None = None

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, or ``timeout`` seconds; whether it ended.  Raises the error of a job that failed."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _SLICE if end is None else min(end - time.monotonic(), _SLICE)
            with self._lock:
                if self._error is not None:
                    raise self._error
                if self._has_ended:
                    return True
                try:
                    self._has_ended = self._job.wait(max(left, 0))
                except FlinkplanError as e:
                    self._error = e
                    raise
            if not self._has_ended and end is not None and time.monotonic() >= end:
                return False

    def stop(self) -> None:
        """Stop it, if it still runs."""
        with self._lock:
            if not self._has_ended and self._error is None:
                self._has_ended = True
                self._job.stop()


class GatewayJobs(JobList):
    """The jobs of all sessions.  One starts after the other: settings of Spark's session are of the job that starts."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine
        self._starting = Lock()

    def start(self, plan: Plan, options: Mapping[str, str], collector: Collector | None) -> tuple[Job, str]:
        """Start a plan; gives the job and its id."""
        from ...table.jobs import start

        self._engine.wait()
        with self._starting:
            job = cast("Job", SharedJob(start(plan, options, collector=collector)))
        id = uuid4().hex
        if collector is None:
            self.add(id, options.get("pipeline.name") or job_name(plan), job, options.get(CHECKPOINT))
        else:
            self.add(id, "collect", job, None)
        self._forget_ended()
        return job, id

    def _forget_ended(self) -> None:
        ended = [job.id for job in list(self._jobs.values()) if job.status != RUNNING]
        for id in ended[: max(0, len(ended) - _KEPT_JOBS)]:
            self._jobs.pop(id, None)


class SessionStatements:
    """Executes statements one after the other with the catalog and the options of one session."""

    def __init__(self, options: Mapping[str, str], jobs: GatewayJobs) -> None:
        self._jobs = jobs
        self._started: list[str] = []
        self._set: list[Insert] | None = None
        self.environment = TableEnvironment(EnvironmentSettings(options), self._start, lambda finding: None)

    def _start(self, plan: Plan, options: Mapping[str, str], *, collector: Collector | None = None) -> Job:
        job, id = self._jobs.start(plan, options, collector)
        self._started.append(id)
        return job

    def execute(self, text: str, options: Mapping[str, str]) -> Result:
        """Execute one statement, with options that hold for it alone.  Raises :class:`FlinkplanError`."""
        statements = parse_script(text).statements
        if len(statements) != 1:
            raise GatewayError(_ONE_STATEMENT, "java.lang.UnsupportedOperationException")
        with self.environment.options(options):
            return self._result(statements[0])

    def configure(self, text: str) -> Result:
        """Execute one statement that defines or sets something.  Raises :class:`FlinkplanError` for another."""
        statements = parse_script(text).statements
        if len(statements) != 1 or not isinstance(statements[0], _CONFIGURING):
            raise GatewayError(
                f"Unsupported statement for configuring session:{text}\nThe configureSession API only supports to "
                "execute statements that define, drop, alter, use or set something.",
                "java.lang.UnsupportedOperationException",
            )
        return self._executed(statements[0])

    def completions(self, text: str, position: int) -> list[str]:
        """What may stand at a position of a statement."""
        from prompt_toolkit.completion import CompleteEvent
        from prompt_toolkit.document import Document

        from ..shell.completion import SqlCompleter

        document = Document(text, max(0, min(position, len(text))))
        completer = SqlCompleter(lambda: self.environment.catalog)
        return [completion.text for completion in completer.get_completions(document, CompleteEvent())]

    def _result(self, statement: Statement) -> Result:
        if self._set is not None:
            return self._in_statement_set(statement, self._set)
        execute = _EXECUTORS.get(type(statement))
        if execute is not None:
            return execute(self, statement)
        return self._executed(statement)

    def _executed(self, statement: Statement) -> Result:
        if isinstance(statement, Show) and statement.what == "JOBS":
            return self._show_jobs()
        if isinstance(statement, Describe) and statement.kind == "JOB":
            return self._describe_job(statement)
        before = len(self._started)
        result = self.environment.execute_statement(statement)
        if isinstance(result, QueryResult):
            return self._query(result)
        if len(self._started) > before:
            id = self._started[-1]
            return Result((("job id", STRING),), Rows([(id,)]), job_id=id)
        if not result.columns:
            return ok()
        return Result(result.columns, Rows([tuple(row) for row in result.collect()]))

    def _query(self, result: QueryResult) -> Result:
        from ...executor.jobs.collecting import Collector

        collector = Collector(as_text=True, with_values=True)
        job = result.start(collector)
        rows = JobRows(job, collector, len(result.columns))
        return Result(result.columns, rows, is_query=True, job_id=self._started[-1])

    # Statement sets that are sent statement by statement

    def _in_statement_set(self, statement: Statement, inserts: list[Insert]) -> Result:
        if isinstance(statement, EndStatementSet):
            self._set = None
            if not inserts:
                return ok()
            return self._executed(StatementSet(tuple(inserts), execute=True, span=inserts[0].span))
        if isinstance(statement, CreateTable) and statement.query is not None:
            statement = self.environment.create_table_as(statement)
        if not isinstance(statement, Insert):
            raise GatewayError(_NOT_IN_SET)
        self.environment.check_insert(statement)
        inserts.append(statement)
        return ok()

    def _begin_statement_set(self, statement: Statement) -> Result:
        self._set = []
        return ok()

    def _end_statement_set(self, statement: Statement) -> Result:
        raise GatewayError(_NO_SET)

    # Jobs

    def _show_jobs(self) -> Result:
        list(self._jobs.changed())
        return self._described(self._jobs.rows())

    def _describe_job(self, statement: Describe) -> Result:
        id = statement.name.names[0]
        list(self._jobs.changed())
        rows = [row for row in self._jobs.rows() if row[0] == id]
        if not rows:
            message = f"Described job {id} does not exist in the cluster."
            raise GatewayError(message, "org.apache.flink.table.api.ValidationException")
        return self._described(rows)

    @staticmethod
    def _described(jobs: Sequence[tuple[str, ...]]) -> Result:
        values = [(*texts, datetime.fromisoformat(start)) for *texts, start in jobs]
        rows = [(*texts, f"{datetime.fromisoformat(start):%Y-%m-%d %H:%M:%S.%f}") for *texts, start in jobs]
        return Result(_JOB_COLUMNS, Rows(rows, values))

    def _stop_job(self, statement: StopJob) -> Result:
        savepoint = self._jobs.stop(statement)
        if statement.with_savepoint:
            return Result((("savepoint path", STRING),), Rows([(savepoint or "",)]))
        return ok()

    def stop_started(self) -> None:
        """Stop the jobs that this session has started and that still run."""
        self._jobs.stop_those(self._started)


def ok() -> Result:
    """The result of a statement that has no rows."""
    return Result(_OK, Rows([("OK",)]), has_content=False)


_EXECUTORS: Mapping[type[Statement], Callable[[SessionStatements, Statement], Result]] = {
    BeginStatementSet: SessionStatements._begin_statement_set,
    EndStatementSet: SessionStatements._end_statement_set,
    StopJob: SessionStatements._stop_job,  # type: ignore[dict-item]
}

"""The sessions of the gateway and their operations.

Source: Flink's ``SqlGatewayServiceImpl``, ``SessionManagerImpl`` and ``OperationManager``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock, Thread, Timer
from uuid import uuid4

from ...plan.interpreter import deep_recursion
from ...plan.record import Record
from ...plan.secrets import masked
from ..shell.engine import Engine
from .errors import SQL_EXECUTION, GatewayError
from .results import Part, Result
from .statements import GatewayJobs, SessionStatements

RUNNING, FINISHED, CANCELED, CLOSED, ERROR, TIMEOUT = "RUNNING", "FINISHED", "CANCELED", "CLOSED", "ERROR", "TIMEOUT"
_SQL_GATEWAY = "org.apache.flink.table.gateway.api.utils.SqlGatewayException"


class Limits(Record):
    """How much the gateway holds: ``sessions``, ``operations`` of a session that are not closed, and how many seconds
    (``idle``) a session lasts of which nobody wants anything; 0 is no limit.
    """

    sessions: int = 100
    operations: int = 1000
    idle: float = 600.0


class Operation:
    """A statement that is executed, or waits for those before it."""

    def __init__(self) -> None:
        self.handle = str(uuid4())
        self.status = RUNNING
        self._result: Result | None = None
        self._error: Exception | None = None
        self._lock = Lock()
        self._ended = Event()

    def wait(self) -> None:
        """Wait until it is no longer running."""
        self._ended.wait()

    def run(self, execute: Callable[[], Result]) -> None:
        """Execute, unless it was ended before its turn."""
        if self.status != RUNNING:
            return
        try:
            with deep_recursion:
                result = execute()
        except Exception as e:
            self._end(ERROR, error=e)
            return
        if not self._end(FINISHED, result=result):
            result.close()

    def _end(self, status: str, *, result: Result | None = None, error: Exception | None = None) -> bool:
        """Whether it was still running."""
        with self._lock:
            if self.status != RUNNING:
                return False
            self.status, self._result, self._error = status, result, error
        self._ended.set()
        return True

    def fetch(self, token: int) -> tuple[Result, Part] | None:
        """A part of the result; ``None`` while there is none yet.  Raises the error of the statement."""
        if self.status == RUNNING:
            return None
        if self._error is not None:
            raise self._error
        if self._result is None:
            message = f"Can not fetch results from the {self.handle} in {self.status} state."
            raise GatewayError(message, SQL_EXECUTION)
        return self._result, self._result.fetch(token)

    def stop(self, status: str) -> None:
        """End it, and the job of its rows."""
        with self._lock:
            result = self._result
            if status == CLOSED or self.status in (RUNNING, FINISHED):
                self.status = status
        self._ended.set()
        if result is not None:
            result.close()


class GatewaySession:
    """A session, whose statements are executed one after the other."""

    def __init__(self, options: Mapping[str, str], jobs: GatewayJobs, limits: Limits) -> None:
        self.handle = str(uuid4())
        self.statements = SessionStatements(options, jobs)
        self._limits = limits
        self._operations: dict[str, Operation] = {}
        self._worker = ThreadPoolExecutor(1, thread_name_prefix=f"session-{self.handle[:8]}")
        self.touch()

    def touch(self) -> None:
        """Note that somebody wants something of the session."""
        self._used = time.monotonic()

    @property
    def idle_seconds(self) -> float:
        """How long nobody has wanted anything of the session; 0 while a statement is executed."""
        if any(operation.status == RUNNING for operation in list(self._operations.values())):
            return 0.0
        return time.monotonic() - self._used

    def submit(self, execute: Callable[[], Result], timeout: float | None = None) -> Operation:
        """Execute something after what was submitted before; ended with TIMEOUT after ``timeout`` seconds."""
        if len(self._operations) >= self._limits.operations > 0:
            message = f"the session has {self._limits.operations} operations, which is the limit: close some"
            raise GatewayError(message, _SQL_GATEWAY)
        operation = Operation()
        self._operations[operation.handle] = operation
        self._worker.submit(operation.run, execute)
        if timeout:
            timer = Timer(timeout, self._time_out, (operation,))
            timer.daemon = True
            timer.start()
        return operation

    @staticmethod
    def _time_out(operation: Operation) -> None:
        if operation.status == RUNNING:
            operation.stop(TIMEOUT)

    def operation(self, handle: str) -> Operation:
        """An operation that is not closed.  Raises :class:`GatewayError`."""
        operation = self._operations.get(handle)
        if operation is None:
            raise GatewayError(
                f"Can not find the submitted operation in the OperationManager with the {handle}.", _SQL_GATEWAY
            )
        return operation

    def close_operation(self, handle: str) -> None:
        """Close an operation and forget it."""
        operation = self.operation(handle)
        self._operations.pop(handle, None)
        operation.stop(CLOSED)

    def config(self) -> dict[str, str]:
        """The options of the session; passwords are masked."""
        options = self.statements.environment.get_config().to_map()
        return {key: masked(key, value) for key, value in options.items()}

    def close(self) -> None:
        """Close all operations, with the jobs of their queries."""
        for operation in list(self._operations.values()):
            operation.stop(CLOSED)
        self._operations.clear()
        self._worker.shutdown(wait=False, cancel_futures=True)


class GatewayService:
    """All sessions; ``options`` are the first options of each."""

    def __init__(self, options: Mapping[str, str], limits: Limits) -> None:
        self._options = options
        self._limits = limits
        self._sessions: dict[str, GatewaySession] = {}
        self._lock = Lock()
        self.engine = Engine(options)
        self._jobs = GatewayJobs(self.engine)
        self._is_open = True

    def start(self) -> None:
        """Start Spark, and what closes sessions that nobody uses."""
        self.engine.start()
        if self._limits.idle:
            Thread(target=self._close_idle, name="idle sessions", daemon=True).start()

    def _close_idle(self) -> None:
        while self._is_open:
            time.sleep(min(self._limits.idle / 10, 5.0))
            for session in list(self._sessions.values()):
                if session.idle_seconds > self._limits.idle:
                    self.close_session(session.handle, stop_jobs=True)

    def open_session(self, properties: Mapping[str, str]) -> GatewaySession:
        """Open a session with options of its own.  Raises :class:`GatewayError` where there are too many."""
        with self._lock:
            if len(self._sessions) >= self._limits.sessions > 0:
                count = len(self._sessions)
                raise GatewayError(
                    f"Failed to create session, the count of active sessions exceeds the max count: {count}",
                    _SQL_GATEWAY,
                )
            session = GatewaySession({**self._options, **properties}, self._jobs, self._limits)
            self._sessions[session.handle] = session
        return session

    @property
    def has_sessions(self) -> bool:
        """Whether a session is open."""
        return bool(self._sessions)

    def session(self, handle: str) -> GatewaySession:
        """An open session.  Raises :class:`GatewayError`."""
        session = self._sessions.get(handle)
        if session is None:
            raise GatewayError(f"Session '{handle}' does not exist.", _SQL_GATEWAY)
        session.touch()
        return session

    def close_session(self, handle: str, *, stop_jobs: bool = False) -> None:
        """Close a session.  Jobs of its INSERTs go on, as in Flink; those of a client that is gone do not."""
        session = self.session(handle)
        self._sessions.pop(handle, None)
        session.close()
        if stop_jobs:
            session.statements.stop_started()

    def close(self) -> None:
        """Close all sessions and stop all jobs."""
        self._is_open = False
        for handle in list(self._sessions):
            self.close_session(handle)
        self._jobs.stop_all()

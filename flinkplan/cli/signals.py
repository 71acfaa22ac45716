"""Ctrl-C, SIGTERM and SIGHUP while jobs start and run."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock, Thread
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from .errors import HungUp, Terminated

if TYPE_CHECKING:
    from ..executor.jobs.counting import JobCounter
    from ..executor.jobs.job import Job
    from ..executor.prepare.job_plan import JobPlan
    from ..executor.prepare.modes import Mode

_INTERRUPTS: dict[int, type[KeyboardInterrupt]] = {
    signal.SIGINT: KeyboardInterrupt,
    signal.SIGTERM: Terminated,
    **({signal.SIGHUP: HungUp} if hasattr(signal, "SIGHUP") else {}),
}

_PATIENCE = 0.5
"""The longest time in seconds until a signal is noticed while a job runs."""
_START_PATIENCE = 0.05
"""The same while a job starts."""
_CLEANING_SECONDS = 5.0
"""How long an interrupted start may take to clean up."""


def _is_ignored(number: int, handler: Any) -> bool:
    """Whether a signal is ignored on purpose, as SIGHUP is under ``nohup``.

    Shells start background jobs with SIGINT ignored too, but whoever sends SIGINT to such a job wants to stop it.
    """
    return handler is signal.SIG_IGN and number not in (signal.SIGINT, signal.SIGTERM)


class _Stoppable(Protocol):
    def stop(self) -> None: ...


T = TypeVar("T", bound=_Stoppable)


class Signals(AbstractContextManager["Signals"]):
    """Delays the first signal until no call to the JVM is running; the second signal interrupts at once.

    It can be entered several times; each time earlier signals are forgotten.
    """

    def __init__(self) -> None:
        self._pending: type[KeyboardInterrupt] | None = None
        self._before: dict[int, Any] = {}
        self._starts: list[_Start[Any]] = []

    def __enter__(self) -> Signals:
        self._pending = None
        self._before = {number: signal.getsignal(number) for number in _INTERRUPTS}
        for number, handler in self._before.items():
            if not _is_ignored(number, handler):
                signal.signal(number, self._take)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @property
    def came(self) -> bool:
        """Whether a signal has arrived."""
        return self._pending is not None

    def obey(self) -> None:
        """Raise the interrupt of a signal that has arrived."""
        if self._pending:
            raise self._pending

    def started(self, start: Callable[[], T]) -> T:
        """The result of ``start``, which runs on its own thread, so that a signal interrupts no call to the JVM.

        Raises the interrupt of a signal at once.  The job is then stopped as soon as it has started, and the next
        start waits for that.
        """
        self.obey()
        self._starts = [abandoned for abandoned in self._starts if abandoned.is_alive()]
        thread = _Start(start, tuple(self._starts))
        self._starts.append(thread)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(_START_PATIENCE)
                self.obey()
        except BaseException:
            thread.abandon()
            raise
        self._starts.remove(thread)
        return thread.result()

    def settle(self) -> None:
        """Wait a few seconds for abandoned starts, so that they clean up."""
        for start in self._starts:
            start.join(_CLEANING_SECONDS)

    def ignore(self) -> None:
        """Ignore signals from now on, because the process is ending, which takes seconds."""
        for number in _INTERRUPTS:
            signal.signal(number, signal.SIG_IGN)
        self._before = {}

    def obeyed_by(self, job: Job) -> Job:
        """The job, whose ``wait`` raises the interrupt of a signal."""
        return cast("Job", _Obedient(job, self))

    def _take(self, number: int, frame: FrameType | None) -> None:
        is_repeated = self._pending is not None
        self._pending = _INTERRUPTS[number]
        if is_repeated:
            raise self._pending


class _Start(Thread, Generic[T]):
    def __init__(self, start: Callable[[], T], before: tuple[Thread, ...]) -> None:
        super().__init__(name="flinkplan start", daemon=True)
        self._begin = start
        self._before = before
        self._guard = Lock()
        self._is_abandoned = False
        self._outcome: T | None = None
        self._error: BaseException | None = None

    def run(self) -> None:
        for thread in self._before:
            thread.join()
        try:
            started = self._begin()
        except BaseException as e:
            self._error = e
            return
        with self._guard:
            self._outcome = started
            is_abandoned = self._is_abandoned
        if is_abandoned:
            _stop(started)

    def abandon(self) -> None:
        """Stop the job as soon as it has started; nobody waits for it any more."""
        with self._guard:
            self._is_abandoned = True
            started = self._outcome
        if started is not None:
            _stop(started)

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        assert self._outcome is not None
        return self._outcome


def _stop(started: _Stoppable) -> None:
    with contextlib.suppress(Exception):  # its JVM may have ended
        started.stop()


@contextmanager
def ends_raised() -> Iterator[None]:
    """SIGTERM and SIGHUP raise their interrupts at once; for code that waits without the JVM."""

    def end(number: int, frame: FrameType | None) -> None:
        raise _INTERRUPTS[number]

    before = {number: signal.getsignal(number) for number in _INTERRUPTS if number != signal.SIGINT}
    for number, handler in before.items():
        if not _is_ignored(number, handler):
            signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is end:
                signal.signal(number, handler)


def end_process(signals: Signals) -> None:
    """End the JVM after an interrupt, so that it does not outlive this process."""
    processes = sys.modules.get("flinkplan.executor.processes")
    if processes is None:
        return
    signals.ignore()
    processes.end_processes(for_good=True)
    signals.settle()


def disregard_signals() -> None:
    """From now on a signal only ends the child processes: the command is done, and this process is ending."""
    for number in _INTERRUPTS:
        if not _is_ignored(number, signal.getsignal(number)):
            signal.signal(number, _end_children)


def _end_children(number: int, frame: FrameType | None) -> None:
    processes = sys.modules.get("flinkplan.executor.processes")
    if processes is not None:
        processes.kill_processes()


class _Obedient:
    def __init__(self, job: Job, signals: Signals) -> None:
        self._job = job
        self._signals = signals

    def wait(self, timeout: float | None = None) -> bool:
        remaining = timeout
        self._signals.obey()
        while not self._job.wait(_PATIENCE if remaining is None else min(remaining, _PATIENCE)):
            self._signals.obey()
            if remaining is not None and (remaining := remaining - _PATIENCE) <= 0:
                return False
        return True

    def stop(self) -> None:
        self._job.stop()

    @property
    def mode(self) -> Mode:
        return self._job.mode

    @property
    def plan(self) -> JobPlan:
        return self._job.plan

    @property
    def counter(self) -> JobCounter:
        return self._job.counter

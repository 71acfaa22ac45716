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
    from ..executor.context import Mode
    from ..executor.jobs.job import Job

_INTERRUPTS: dict[int, type[KeyboardInterrupt]] = {
    signal.SIGINT: KeyboardInterrupt,
    signal.SIGTERM: Terminated,
    **({signal.SIGHUP: HungUp} if hasattr(signal, "SIGHUP") else {}),
}

_PATIENCE = 0.5
"""Seconds until an interrupt of a running job is noticed."""
_START_PATIENCE = 0.05
"""The same of one that starts."""
_CLEANING_SECONDS = 5.0
"""How long an interrupted start may take to leave things as they were."""


def _is_ignored(number: int, handler: Any) -> bool:
    """Whether a signal is ignored on purpose: a terminal that goes, below ``nohup``.

    Shells have jobs in the background ignore SIGINT, which is sent to such a job only to stop it.
    """
    return handler is signal.SIG_IGN and number not in (signal.SIGINT, signal.SIGTERM)


class _Stoppable(Protocol):
    def stop(self) -> None: ...


T = TypeVar("T", bound=_Stoppable)


class Signals(AbstractContextManager["Signals"]):
    """Has jobs stopped between two calls to the JVM, not amid one; who insists is obeyed at once.

    It can be entered again and again: each time signals of before are forgotten.
    """

    def __init__(self) -> None:
        self._asked: type[KeyboardInterrupt] | None = None
        self._before: dict[int, Any] = {}
        self._starts: list[_Start[Any]] = []

    def __enter__(self) -> Signals:
        self._asked = None
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
        """Whether there was a signal."""
        return self._asked is not None

    def obey(self) -> None:
        """Raise what a signal asked for since the last call."""
        if self._asked:
            raise self._asked

    def started(self, start: Callable[[], T]) -> T:
        """What ``start`` returns.  It runs on a thread of its own, so that a signal interrupts no call to the JVM.

        Raises what a signal asks for, at once; what starts is then stopped as soon as it is there, and the next start
        waits for that.
        """
        self.obey()
        self._starts = [left for left in self._starts if left.is_alive()]
        waiting = _Start(start, tuple(self._starts))
        self._starts.append(waiting)
        waiting.start()
        try:
            while waiting.is_alive():
                waiting.join(_START_PATIENCE)
                self.obey()
        except BaseException:
            waiting.abandon()
            raise
        self._starts.remove(waiting)
        return waiting.result()

    def settle(self) -> None:
        """Wait some seconds for what was left as it started, so that it leaves things as they were."""
        for start in self._starts:
            start.join(_CLEANING_SECONDS)

    def ignore(self) -> None:
        """Ignore signals from now on: the process ends, which takes seconds."""
        for number in _INTERRUPTS:
            signal.signal(number, signal.SIG_IGN)
        self._before = {}

    def obeyed_by(self, job: Job) -> Job:
        """A job that obeys whenever it is waited for."""
        return cast("Job", _Obedient(job, self))

    def _take(self, number: int, frame: FrameType | None) -> None:
        insists = self._asked is not None
        self._asked = _INTERRUPTS[number]
        if insists:
            raise self._asked


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
        """Nobody waits for it any more."""
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
    with contextlib.suppress(Exception):  # perhaps together with its JVM
        started.stop()


@contextmanager
def ends_raised() -> Iterator[None]:
    """SIGTERM and SIGHUP raise what they are at once, where only Python waits for something."""

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
    """Leave nothing behind: after an interrupt the JVM does not outlive this process."""
    processes = sys.modules.get("flinkplan.executor.processes")
    if processes is None:
        return
    signals.ignore()
    processes.end_processes(for_good=True)
    signals.settle()


def disregard_signals() -> None:
    """From now on a signal only hastens the end of this process, which has done all that it was asked for."""
    for number in _INTERRUPTS:
        if not _is_ignored(number, signal.getsignal(number)):
            signal.signal(number, _hasten)


def _hasten(number: int, frame: FrameType | None) -> None:
    processes = sys.modules.get("flinkplan.executor.processes")
    if processes is not None:
        processes.kill_processes()


class _Obedient:
    def __init__(self, job: Job, signals: Signals) -> None:
        self._job = job
        self._signals = signals

    def wait(self, timeout: float | None = None) -> bool:
        left = timeout
        self._signals.obey()
        while not self._job.wait(_PATIENCE if left is None else min(left, _PATIENCE)):
            self._signals.obey()
            if left is not None and (left := left - _PATIENCE) <= 0:
                return False
        return True

    def stop(self) -> None:
        self._job.stop()

    @property
    def mode(self) -> Mode:
        return self._job.mode

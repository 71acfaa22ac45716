"""Ctrl-C and SIGTERM while jobs run."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, cast

from .errors import Terminated

if TYPE_CHECKING:
    from ..executor.context import Mode
    from ..executor.job import Job

_INTERRUPTS = {signal.SIGINT: KeyboardInterrupt, signal.SIGTERM: Terminated}

_PATIENCE = 0.5
"""Seconds until an interrupt is noticed."""


class Signals(AbstractContextManager["Signals"]):
    """Has running jobs stopped between two calls to the JVM, not amid one; who insists is obeyed at once."""

    def __init__(self) -> None:
        self._asked: type[KeyboardInterrupt] | None = None
        self._is_at_once = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Signals:
        self._before = {number: signal.getsignal(number) for number in _INTERRUPTS}
        self._listen()
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

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Where a signal is obeyed when it comes: while a job starts, nobody would ask :meth:`obey`."""
        self._is_at_once = True
        yield
        self._is_at_once = False
        self._listen()  # a starting PySpark puts a handler of its own in place

    def obeyed_by(self, job: Job) -> Job:
        """A job that obeys whenever it is waited for."""
        return cast("Job", _Obedient(job, self))

    def _listen(self) -> None:
        for number in _INTERRUPTS:
            signal.signal(number, self._take)

    def _take(self, number: int, frame: FrameType | None) -> None:
        at_once = self._is_at_once or self._asked is not None
        self._asked = _INTERRUPTS[signal.Signals(number)]
        if at_once:
            raise self._asked


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

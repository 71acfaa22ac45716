"""The processes that a session needs, which end with this one: Spark's JVM, and the compiler of the kernels."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import Any

from .errors import ExecutionError

_GRACE_SECONDS = 5.0
"""How long a process that is to end may take for it; Spark's JVM removes its files meanwhile."""
_POLL_SECONDS = 0.05

_guard = Lock()
_is_over = False
_running: dict[subprocess.Popen[Any], Callable[[], bool]] = {}
"""The processes, each with whether it has nothing left to do but to end."""
_needed: set[subprocess.Popen[Any]] = set()
"""Those that would not end by themselves if this process did."""


def _never() -> bool:
    return False


@contextmanager
def child(
    command: Sequence[str], is_done: Callable[[], bool] = _never, **options: Any
) -> Iterator[subprocess.Popen[Any]]:
    """A new process, which is ended where what is done with it fails or is interrupted; else it may run on.

    ``is_done`` says that it has nothing left to do after it was told to end, ``options`` are those of ``Popen``.

    Raises :class:`ExecutionError` where this process is ending, :class:`OSError` where the command cannot be run.
    """
    with _guard:
        if _is_over:
            raise ExecutionError("this process is ending")
        process = subprocess.Popen(command, **options)
        _running[process] = is_done
        _needed.add(process)
    try:
        yield process
    except BaseException:
        _end([process])
        raise
    _needed.discard(process)
    if process.poll() is not None:
        _running.pop(process, None)


def run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with what it prints as texts."""
    with child(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        out, err = process.communicate()
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def is_running() -> bool:
    """Whether one of them still runs."""
    return any(process.poll() is None for process in list(_running))


def end_processes(*, for_good: bool = False) -> None:
    """End all of them: they are told to, and killed where that takes more than seconds.

    ``for_good``: this process ends as well, and no more are started.
    """
    global _is_over
    with _guard:
        _is_over = _is_over or for_good
        processes = list(_running)
    _end(processes)


def end_needed() -> None:
    """End those that would stay for ever when this process has ended, which it is about to do: no more are started."""
    global _is_over
    with _guard:
        _is_over = True
        processes = list(_needed)
    _end(processes)


def kill_processes() -> None:
    """End all of them at once."""
    for process in list(_running):
        with contextlib.suppress(OSError):
            process.kill()


def _end(processes: Sequence[subprocess.Popen[Any]]) -> None:
    end = monotonic() + _GRACE_SECONDS
    for process in processes:
        with contextlib.suppress(OSError):
            process.terminate()
    for process in processes:
        is_done = _running.get(process, _never)
        while process.poll() is None:
            if is_done() or monotonic() >= end:
                process.kill()
                process.wait()
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_SECONDS)
        _running.pop(process, None)
        _needed.discard(process)

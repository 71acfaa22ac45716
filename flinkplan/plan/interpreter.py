"""What statements and plans ask of the interpreter: the same for the command line and for programs that import this."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from contextlib import ContextDecorator
from threading import Lock
from types import TracebackType
from typing import Self, TypeAlias

DEPTH = 5_000
"""Calls within calls.  What is nested more deeply is refused.

Generated SQL chains hundreds of operators, and each takes several calls to walk past.
"""

_Restore: TypeAlias = Callable[[], None]


class _WhileUsed(ContextDecorator):
    """A state of the interpreter, as long as anyone needs it, in whichever threads.

    ``begin`` brings it about and returns what restores the one before.
    """

    def __init__(self, begin: Callable[[], _Restore]) -> None:
        self._lock = Lock()
        self._users = 0
        self._begin = begin
        self._restore: _Restore | None = None

    def __enter__(self) -> Self:
        with self._lock:
            if self._users == 0:
                self._restore = self._begin()
            self._users += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._restore is not None:
                self._restore()


def _room() -> _Restore:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, DEPTH))
    return lambda: sys.setrecursionlimit(before)


def _no_collection() -> _Restore:
    if not gc.isenabled():
        return lambda: None
    gc.disable()
    return gc.enable


deeply = _WhileUsed(_room)
"""A context manager, and a decorator of functions that follow what may be nested: room for :data:`DEPTH` calls."""
uncollected = _WhileUsed(_no_collection)
"""The same for what makes trees, which have no cycles: a tenth of the time went into looking for some."""

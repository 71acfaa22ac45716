"""The settings of the Python interpreter that long statements and plans need, from the command line and the API."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from contextlib import ContextDecorator
from threading import Lock
from types import TracebackType
from typing import Self, TypeAlias

DEPTH = 5_000
"""The recursion limit; input that needs more is refused.

Generated SQL chains hundreds of operators, and a walk over the tree takes several calls for each.
"""

_Restore: TypeAlias = Callable[[], None]


class _WhileUsed(ContextDecorator):
    """A setting of the interpreter that holds as long as any thread uses it.

    ``begin`` changes the setting and returns a function that restores the previous one.
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


def _raise_recursion_limit() -> _Restore:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, DEPTH))
    return lambda: sys.setrecursionlimit(before)


def _disable_garbage_collection() -> _Restore:
    if not gc.isenabled():
        return lambda: None
    gc.disable()
    return gc.enable


deep_recursion = _WhileUsed(_raise_recursion_limit)
"""A context manager and decorator for functions that recurse over nested input: they may use :data:`DEPTH` calls."""
no_garbage_collection = _WhileUsed(_disable_garbage_collection)
"""A context manager and decorator without garbage collection, for code that builds large trees without cycles: looking
for cycles took a tenth of the time.
"""

"""How deeply statements and plans may be nested: the same for the command line and for programs that import this."""

from __future__ import annotations

import sys
from contextlib import ContextDecorator
from threading import Lock
from types import TracebackType
from typing import Self

DEPTH = 5_000
"""Calls within calls.  What is nested more deeply is refused.

Generated SQL chains hundreds of operators, and each takes several calls to walk past.
"""


class _Room(ContextDecorator):
    """Room for :data:`DEPTH` calls within calls, as long as anyone needs it, in whichever threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._before = 0

    def __enter__(self) -> Self:
        with self._lock:
            if self._users == 0:
                self._before = sys.getrecursionlimit()
                sys.setrecursionlimit(max(self._before, DEPTH))
            self._users += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                sys.setrecursionlimit(self._before)


deeply = _Room()
"""A context manager, and a decorator of functions that follow what may be nested."""

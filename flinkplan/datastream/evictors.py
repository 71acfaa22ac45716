"""Evictors, which remove rows from a window when it fires."""

from __future__ import annotations

from ..planner.sql.ast import stream_windows as w
from ..windowing import Evictor
from .python import python_class
from .sql import Duration, expression, millis


class DeclaredEvictor:
    """A built-in evictor, created by the methods of its subclasses."""

    def __init__(self, node: w.Evictor) -> None:
        self.node = node


def evictor_node(evictor: DeclaredEvictor | Evictor) -> w.Evictor:
    """The syntax node of an evictor."""
    return evictor.node if isinstance(evictor, DeclaredEvictor) else w.PythonEvictor(python_class(evictor))


class CountEvictor(DeclaredEvictor):
    """Keeps the rows that arrived last."""

    @classmethod
    def of(cls, max_count: int, do_evict_after: bool = False) -> DeclaredEvictor:
        return cls(w.CountEvictor(max_count, do_evict_after))


class TimeEvictor(DeclaredEvictor):
    """Keeps the rows within a time before the latest one."""

    @classmethod
    def of(cls, window_size: Duration, do_evict_after: bool = False) -> DeclaredEvictor:
        return cls(w.TimeEvictor(millis(window_size), do_evict_after))


class DeltaEvictor(DeclaredEvictor):
    """Keeps the rows ``a`` whose ``delta`` to the last row ``b`` is below a threshold."""

    @classmethod
    def of(cls, threshold: float, delta: str, do_evict_after: bool = False) -> DeclaredEvictor:
        return cls(w.DeltaEvictor(expression(delta), float(threshold), do_evict_after))

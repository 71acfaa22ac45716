"""Evictors, which remove rows from a window when it fires."""

from __future__ import annotations

from typing import Any

from ..plan import specs
from ..planner.sql.ast import stream_windows as w
from ..windowing import Evictor
from .python import python_class
from .sql import Duration, expression, millis, window_arguments

__all__ = ["CountEvictor", "DeltaEvictor", "TimeEvictor"]


class DeclaredEvictor:
    """Evicts rows; constructed by the subclasses' methods, with the fields of the declaration of the same name."""

    def __init__(self, after: bool, **fields: Any) -> None:
        declaration = getattr(specs.stream_windows, type(self).__name__)
        self.node: w.Evictor = w.DeclaredEvictor(declaration, window_arguments(fields), after)


def evictor_node(evictor: DeclaredEvictor | Evictor) -> w.Evictor:
    """The syntax-tree node of an evictor."""
    return evictor.node if isinstance(evictor, DeclaredEvictor) else w.PythonEvictor(python_class(evictor))


class CountEvictor(DeclaredEvictor):
    """Keeps the rows that arrived last."""

    @classmethod
    def of(cls, max_count: int, do_evict_after: bool = False) -> DeclaredEvictor:
        return cls(do_evict_after, max_count=max_count)


class TimeEvictor(DeclaredEvictor):
    """Keeps the rows within a time before the latest one."""

    @classmethod
    def of(cls, window_size: Duration, do_evict_after: bool = False) -> DeclaredEvictor:
        return cls(do_evict_after, window_size=millis(window_size))


class DeltaEvictor(DeclaredEvictor):
    """Keeps the rows ``a`` whose ``delta`` to the last row ``b`` is below a threshold."""

    @classmethod
    def of(cls, threshold: float, delta: str, do_evict_after: bool = False) -> DeclaredEvictor:
        return cls(do_evict_after, threshold=float(threshold), delta_function=expression(delta))

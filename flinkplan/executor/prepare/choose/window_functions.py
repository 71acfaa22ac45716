"""Windowing table functions."""

from __future__ import annotations

from ....plan.nodes import WindowTableFunction
from ....plan.specs import SessionWindow
from ..query import QueryPlan, chooser
from ..steps import Kernel, Native
from ..watermarks import by_watermark
from ..windows import Clock, clock_of, session_states


class NativeWindowRows(Native, kw_only=True):
    """Each row once for each of its windows."""

    clock: Clock


class KernelSessionRows(Kernel, kw_only=True):
    """Each row with its session, when that closes."""

    clock: Clock


@chooser(WindowTableFunction, real_time=by_watermark)
def window_table_function(node: WindowTableFunction, query: QueryPlan) -> NativeWindowRows | KernelSessionRows:
    """A row's windows follow from its time; sessions merge."""
    clock = clock_of(node, node.windowing.time_attribute_type, query)
    window = node.windowing.window
    if not isinstance(window, SessionWindow):
        why = "a row's windows follow from its time"
        return NativeWindowRows(operators="Project, Generate", why=why, clock=clock)
    return KernelSessionRows(
        kernel="time.WindowRows",
        why="sessions merge until they close",
        shuffle=tuple(query.columns(query.input(node), [k]) for k in window.partition_key_indices or ()),
        states=session_states(node.windowing, query.input(node), query),
        clock=clock,
    )

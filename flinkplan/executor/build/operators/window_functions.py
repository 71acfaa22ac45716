"""Windowing table functions."""

from __future__ import annotations

from ....plan.nodes import WindowTableFunction
from ....plan.record import replace
from ...prepare.choose.window_functions import KernelSessionRows, NativeWindowRows
from ..context import TranslationContext
from ..registry import builder
from ..stream import END, START, Stream, column_name
from ..time.event_time import with_event_time
from ..windows.assignment import with_time_read, with_windows
from ..windows.kernels import attach_sessions, bounds


@builder(KernelSessionRows, WindowTableFunction)
def session_rows(
    node: WindowTableFunction, step: KernelSessionRows, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """Each row with its session's start, end and time, when that closes."""
    (stream,) = inputs
    timed = stream if node.windowing.is_proctime else with_event_time(stream)
    return attach_sessions(context, step, timed, node)


@builder(NativeWindowRows, WindowTableFunction)
def window_rows(
    node: WindowTableFunction, step: NativeWindowRows, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """Each row once per window, with the window's start, end and time."""
    (stream,) = inputs
    windowed = with_windows(with_time_read(stream, node.windowing, context), node.windowing, step.clock)
    properties = bounds(node.windowing, step.clock, windowed.frame[START], windowed.frame[END])
    columns = [c.alias(column_name(i)) for i, c in enumerate((*windowed.columns, *properties))]
    hidden = [windowed.frame[h] for h in stream.hidden]
    return replace(stream, frame=windowed.frame.select(*columns, *hidden), type=node.output_type)

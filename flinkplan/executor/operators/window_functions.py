"""Windowing table functions."""

from __future__ import annotations

from ...plan.nodes import WindowTableFunction
from ...plan.record import replace
from ...plan.specs import SessionWindow
from ..context import TranslationContext
from ..event_time import with_event_time
from ..execution import TIMER, Execution, QueryPlan, kernel, native, until_watermark
from ..registry import by_watermark, translator
from ..stream import END, START, Stream, column_name
from ..window_kernels import attach_sessions, bounds
from ..windows import Clock, with_time_read, with_windows


def _runs(node: WindowTableFunction, query: QueryPlan) -> Execution:
    window = node.windowing.window
    if not isinstance(window, SessionWindow):
        return native("Project, Generate", "a row's windows follow from its time")
    rows = until_watermark("ListState", "rows", "the rows of open sessions")
    keys = tuple(query.columns(query.input(node), [k]) for k in window.partition_key_indices or ())
    return kernel(node, query, "time.WindowRows", "sessions merge until they close", rows, TIMER, keys=keys)


@translator(WindowTableFunction, runs=_runs, real_time=by_watermark)
def window_table_function(node: WindowTableFunction, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Each row once per window, with the window's start, end and time; sessions come when they close."""
    (stream,) = inputs
    clock = Clock.of(node, node.windowing.time_attribute_type, context)
    if isinstance(node.windowing.window, SessionWindow):
        timed = stream if node.windowing.is_proctime else with_event_time(stream)
        return attach_sessions(context, timed, node.windowing, clock, node.output_type)
    windowed = with_windows(with_time_read(stream, node.windowing, context), node.windowing, clock)
    properties = bounds(node.windowing, clock, windowed.frame[START], windowed.frame[END])
    columns = [c.alias(column_name(i)) for i, c in enumerate((*windowed.columns, *properties))]
    hidden = [windowed.frame[h] for h in stream.hidden]
    return replace(stream, frame=windowed.frame.select(*columns, *hidden), type=node.output_type)

"""Lowering of windows of the DataStream API; descriptions call things as Flink's classes print them."""

from __future__ import annotations

from collections.abc import Sequence

from ...plan import nodes, specs
from ...plan.durations import format_duration, format_iso_duration, parse_iso_duration
from ...plan.nodes.base import ExecNode
from ...plan.rex import RexNode
from ..algebra import physical as p
from ..algebra.names import uniquify
from ..rex.printer import expression
from .aggregate_text import call_text
from .context import Context, Rules, columns, duration_text, order_text


def _window_operator(rel: p.WindowOperator, ctx: Context) -> ExecNode:
    fields, window = rel.input.names, rel.window
    parts = [f"keyBy=[{columns(rel.input, window.keys)}]"] if window.keys else []
    parts.append(f"window=[{assigner_text(window.assigner, fields)}]")
    parts.append(f"trigger=[{trigger_text(window.trigger, fields)}]")
    if window.evictor is not None:
        parts.append(f"evictor=[{evictor_text(window.evictor, fields)}]")
    if window.lateness:
        parts.append(f"allowedLateness=[{format_duration(window.lateness)}]")
    parts.append(f"function=[{_function_text(window.function, rel)}]")
    parts.append(f"select=[{', '.join(rel.names)}]")
    return ctx.node(
        nodes.WindowOperator,
        rel,
        *parts,
        keys=window.keys,
        time_attribute_index=window.time_index,
        assigner=window.assigner,
        trigger=window.trigger,
        evictor=window.evictor,
        allowed_lateness=format_iso_duration(window.lateness),
        function=window.function,
        properties=window.properties,
        element_names=window.element_names,
        state=ctx.states(nodes.WindowOperator),
    )


def _late_rows(rel: p.LateRows, ctx: Context) -> ExecNode:
    return ctx.node(nodes.LateRows, rel, f"select=[{', '.join(rel.names)}]")


def assigner_text(assigner: specs.WindowAssigner, fields: Sequence[str]) -> str:
    """``SlidingEventTimeWindows(10 min, 5 min)``."""
    times: list[str] = []
    match assigner:
        case specs.TumblingEventTimeWindows(size=size, offset=offset):
            times = [duration_text(size), *_offset(offset)]
        case specs.SlidingEventTimeWindows(size=size, slide=slide, offset=offset):
            times = [duration_text(size), duration_text(slide), *_offset(offset)]
        case specs.EventTimeSessionWindows(session_timeout=gap):
            times = [duration_text(gap)]
        case specs.DynamicEventTimeSessionWindows(session_window_time_gap_extractor=extractor):
            times = [expression(extractor, fields)]
        case specs.GlobalWindows():
            pass
        case specs.PythonWindowAssigner():
            return _python_text(assigner)
    return f"{type(assigner).__name__}({', '.join(times)})"


def trigger_text(trigger: specs.Trigger, fields: Sequence[str]) -> str:
    """``PurgingTrigger(CountTrigger(3))``."""
    arguments: list[str] = []
    match trigger:
        case specs.PythonTrigger():
            return _python_text(trigger)
        case specs.CountTrigger(max_count=count):
            arguments = [str(count)]
        case (
            specs.ContinuousEventTimeTrigger(interval=interval)
            | specs.ContinuousProcessingTimeTrigger(interval=interval)
        ):
            arguments = [duration_text(interval)]
        case specs.DeltaTrigger(threshold=threshold, delta_function=delta):
            arguments = [_pair_text(delta, fields), f"{threshold:g}"]
        case specs.PurgingTrigger(nested_trigger=nested):
            arguments = [trigger_text(nested, fields)]
        case specs.ProcessingTimeoutTrigger(nested_trigger=nested, interval=interval):
            arguments = [trigger_text(nested, fields), duration_text(interval)]
    return f"{type(trigger).__name__}({', '.join(arguments)})"


def evictor_text(evictor: specs.Evictor, fields: Sequence[str]) -> str:
    """``CountEvictor(100)``."""
    arguments: list[str] = []
    match evictor:
        case specs.PythonEvictor():
            return _python_text(evictor)
        case specs.CountEvictor(max_count=count):
            arguments = [str(count)]
        case specs.TimeEvictor(window_size=size):
            arguments = [duration_text(size)]
        case specs.DeltaEvictor(threshold=threshold, delta_function=delta):
            arguments = [_pair_text(delta, fields), f"{threshold:g}"]
    if evictor.do_evict_after:
        arguments.append("after")
    return f"{type(evictor).__name__}({', '.join(arguments)})"


def _function_text(function: specs.WindowFunction, rel: p.WindowOperator) -> str:
    fields = rel.input.names
    match function:
        case specs.AggregateFunction(agg_calls=calls):
            return f"aggregate({', '.join(call_text(call, fields) for call in calls)})"
        case specs.ReduceFunction(columns=reduced):
            return f"reduce({', '.join(_pair_text(rex, fields) for rex in reduced)})"
        case specs.Elements(limit=limit, from_end=from_end, order_by=order):
            which = "all" if limit is None else f"{'last' if from_end else 'first'} {limit}"
            return f"elements({which}{f' by {order_text(rel.input, order)}' if order else ''})"
        case specs.ProcessWindowFunction():
            return f"process({_python_text(function)})"
    raise TypeError(f"no text for {type(function).__name__}")


def _python_text(part: specs.PythonPart) -> str:
    """``my_windows:TopThree(n=3)``."""
    return f"{part.python_class}({', '.join(f'{name}={value}' for name, value in part.arguments.items())})"


def _pair_text(rex: RexNode, fields: Sequence[str]) -> str:
    """An expression over an earlier row, whose columns have their names, and a later one."""
    return expression(rex, uniquify([*fields, *fields]))


def _offset(iso: str) -> list[str]:
    return [duration_text(iso)] if parse_iso_duration(iso) else []


RULES: Rules = {p.WindowOperator: _window_operator, p.LateRows: _late_rows}

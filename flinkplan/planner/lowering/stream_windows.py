"""Lowering of windows of the DataStream API; descriptions call things as Flink's classes print them."""

from __future__ import annotations

from collections.abc import Sequence

from ...plan import nodes
from ...plan.durations import format_duration, format_iso_duration, parse_iso_duration
from ...plan.nodes.base import ExecNode
from ...plan.rex import RexNode
from ...plan.specs import (
    AggregateFunction,
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountEvictor,
    CountTrigger,
    DeltaEvictor,
    DeltaTrigger,
    DynamicEventTimeSessionWindows,
    Elements,
    EventTimeSessionWindows,
    Evictor,
    GlobalWindows,
    ProcessingTimeoutTrigger,
    ProcessWindowFunction,
    PurgingTrigger,
    PythonEvictor,
    PythonPart,
    PythonTrigger,
    PythonWindowAssigner,
    ReduceFunction,
    SlidingEventTimeWindows,
    TimeEvictor,
    Trigger,
    TumblingEventTimeWindows,
    WindowAssigner,
    WindowFunction,
)
from ..algebra import physical as p
from ..algebra.names import uniquify
from ..rex.printer import expression
from .aggregate_text import call_text
from .context import Context, Rules, columns, names, order_text


def window_operator(rel: p.WindowOperator, ctx: Context) -> ExecNode:
    """A window operator."""
    fields, window = names(rel.input), rel.window
    parts = [f"keyBy=[{columns(rel.input, window.keys)}]"] if window.keys else []
    parts.append(f"window=[{assigner_text(window.assigner, fields)}]")
    parts.append(f"trigger=[{trigger_text(window.trigger, fields)}]")
    if window.evictor is not None:
        parts.append(f"evictor=[{evictor_text(window.evictor, fields)}]")
    if window.lateness:
        parts.append(f"allowedLateness=[{format_duration(window.lateness)}]")
    parts.append(f"function=[{_function_text(window.function, rel)}]")
    parts.append(f"select=[{', '.join(names(rel))}]")
    return ctx.node(
        nodes.WindowOperator,
        rel,
        f"WindowOperator({', '.join(parts)})",
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


def late_rows(rel: p.LateRows, ctx: Context) -> ExecNode:
    """A side output."""
    return ctx.node(nodes.LateRows, rel, f"LateRows(select=[{', '.join(names(rel))}])")


def assigner_text(assigner: WindowAssigner, fields: Sequence[str]) -> str:
    """``SlidingEventTimeWindows(10 min, 5 min)``."""
    times: list[str] = []
    match assigner:
        case TumblingEventTimeWindows(size=size, offset=offset):
            times = [_time(size), *_offset(offset)]
        case SlidingEventTimeWindows(size=size, slide=slide, offset=offset):
            times = [_time(size), _time(slide), *_offset(offset)]
        case EventTimeSessionWindows(session_timeout=gap):
            times = [_time(gap)]
        case DynamicEventTimeSessionWindows(session_window_time_gap_extractor=extractor):
            times = [expression(extractor, fields)]
        case GlobalWindows():
            pass
        case PythonWindowAssigner():
            return _python_text(assigner)
    return f"{type(assigner).__name__}({', '.join(times)})"


def trigger_text(trigger: Trigger, fields: Sequence[str]) -> str:
    """``PurgingTrigger(CountTrigger(3))``."""
    arguments: list[str] = []
    match trigger:
        case PythonTrigger():
            return _python_text(trigger)
        case CountTrigger(max_count=count):
            arguments = [str(count)]
        case ContinuousEventTimeTrigger(interval=interval) | ContinuousProcessingTimeTrigger(interval=interval):
            arguments = [_time(interval)]
        case DeltaTrigger(threshold=threshold, delta_function=delta):
            arguments = [_pair_text(delta, fields), f"{threshold:g}"]
        case PurgingTrigger(nested_trigger=nested):
            arguments = [trigger_text(nested, fields)]
        case ProcessingTimeoutTrigger(nested_trigger=nested, interval=interval):
            arguments = [trigger_text(nested, fields), _time(interval)]
    return f"{type(trigger).__name__}({', '.join(arguments)})"


def evictor_text(evictor: Evictor, fields: Sequence[str]) -> str:
    """``CountEvictor(100)``."""
    arguments: list[str] = []
    match evictor:
        case PythonEvictor():
            return _python_text(evictor)
        case CountEvictor(max_count=count):
            arguments = [str(count)]
        case TimeEvictor(window_size=size):
            arguments = [_time(size)]
        case DeltaEvictor(threshold=threshold, delta_function=delta):
            arguments = [_pair_text(delta, fields), f"{threshold:g}"]
    if evictor.do_evict_after:
        arguments.append("after")
    return f"{type(evictor).__name__}({', '.join(arguments)})"


def _function_text(function: WindowFunction, rel: p.WindowOperator) -> str:
    fields = names(rel.input)
    match function:
        case AggregateFunction(agg_calls=calls):
            return f"aggregate({', '.join(call_text(call, fields) for call in calls)})"
        case ReduceFunction(columns=reduced):
            return f"reduce({', '.join(_pair_text(rex, fields) for rex in reduced)})"
        case Elements(limit=limit, from_end=from_end, order_by=order):
            which = "all" if limit is None else f"{'last' if from_end else 'first'} {limit}"
            return f"elements({which}{f' by {order_text(rel.input, order)}' if order else ''})"
        case ProcessWindowFunction():
            return f"process({_python_text(function)})"
    raise TypeError(f"no text for {type(function).__name__}")


def _python_text(part: PythonPart) -> str:
    """``my_windows:TopThree(n=3)``."""
    return f"{part.python_class}({', '.join(f'{name}={value}' for name, value in part.arguments.items())})"


def _pair_text(rex: RexNode, fields: Sequence[str]) -> str:
    """An expression over an earlier row, whose columns have their names, and a later one."""
    return expression(rex, uniquify([*fields, *fields]))


def _time(iso: str) -> str:
    return format_duration(parse_iso_duration(iso))


def _offset(iso: str) -> list[str]:
    millis = parse_iso_duration(iso)
    return [] if not millis else [f"-{format_duration(-millis)}" if millis < 0 else format_duration(millis)]


RULES: Rules = {p.WindowOperator: window_operator, p.LateRows: late_rows}

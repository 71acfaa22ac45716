"""Lowering of windows of the DataStream API; descriptions call things as Flink's classes print them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...plan import nodes, specs
from ...plan.durations import format_duration, format_iso_duration
from ...plan.nodes.base import ExecNode
from ...plan.rex import RexNode
from ...plan.specs.window_parts import DeclaredArgument, ValueKind, declared_arguments
from ..algebra import logical as a
from ..algebra import physical as p
from ..algebra.names import uniquify
from ..rex.printer import expression
from .aggregate_text import call_text
from .context import Context, Parts, Rules, Texts, columns, duration_text, no_parts, order_text


def _window_operator(rel: p.WindowOperator, ctx: Context) -> ExecNode:
    fields, window = rel.input.names, rel.window
    parts = [f"keyBy=[{columns(rel.input, window.keys)}]"] if window.keys else []
    parts.append(f"window=[{part_text(window.assigner, fields)}]")
    parts.append(f"trigger=[{part_text(window.trigger, fields)}]")
    if window.evictor is not None:
        parts.append(f"evictor=[{part_text(window.evictor, fields)}]")
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


def part_text(part: specs.WindowAssigner | specs.Trigger | specs.Evictor, fields: Sequence[str]) -> str:
    """``SlidingEventTimeWindows(10 min, 5 min)``, ``PurgingTrigger(CountTrigger(3))``: a nested trigger comes first,
    then what the part is named by in YAML, then other arguments; flags and durations of 0 are left out.
    """
    if isinstance(part, specs.PythonPart):
        return _python_text(part)
    values = [
        (declared, getattr(part, declared.name)) for declared in sorted(declared_arguments(type(part)), key=_text_order)
    ]
    texts = [
        _argument_text(declared, value, fields)
        for declared, value in values
        if declared.kind is not ValueKind.FLAG and value != declared.default
    ]
    if isinstance(part, specs.Evictor) and part.do_evict_after:
        texts.append("after")
    return f"{type(part).__name__}({', '.join(texts)})"


def _text_order(declared: DeclaredArgument) -> tuple[bool, bool]:
    return declared.kind is not ValueKind.TRIGGER, not declared.argument.names_part


def _argument_text(declared: DeclaredArgument, value: Any, fields: Sequence[str]) -> str:
    match declared.kind:
        case ValueKind.DURATION:
            return duration_text(value)
        case ValueKind.NUMBER:
            return f"{value:g}"
        case ValueKind.ROW_EXPRESSION:
            return expression(value, fields)
        case ValueKind.PAIR_EXPRESSION:
            return _pair_text(value, fields)
        case ValueKind.TRIGGER:
            return part_text(value, fields)
    return str(value)


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


def window_operator_parts(rel: a.WindowOperator | p.WindowOperator) -> Parts:
    """A window of the DataStream API, as ``explain --rules`` shows it."""
    source = rel.rows if isinstance(rel, a.WindowOperator) else rel.input
    yield f"assigner=[{type(rel.window.assigner).__name__}]"
    if rel.window.keys:
        yield f"keyBy=[{columns(source, rel.window.keys)}]"
    yield f"select=[{', '.join(rel.names)}]"


TEXTS: Texts = {p.WindowOperator: window_operator_parts, p.LateRows: no_parts}

RULES: Rules = {p.WindowOperator: _window_operator, p.LateRows: _late_rows}

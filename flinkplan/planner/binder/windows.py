"""Windowing table functions: TUMBLE, HOP, CUMULATE, SESSION."""

from __future__ import annotations

from ...plan.findings import did_you_mean
from ...plan.functions.typing import is_interval, is_year_month
from ...plan.rex import InputRef, Literal
from ...plan.settings import is_batch_mode
from ...plan.types import TIMESTAMPS, LogicalType
from ..algebra.logical import Watermark, WindowFunction
from ..algebra.rel import Rel
from ..sql import ast
from .context import Context
from .errors import BindError
from .expressions import ExpressionBinder
from .nested import bind_inner_query
from .scope import Namespace, Scope

PARAMETERS = {
    "TUMBLE": ("DATA", "TIMECOL", "SIZE", "OFFSET"),
    "HOP": ("DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"),
    "CUMULATE": ("DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"),
    "SESSION": ("DATA", "TIMECOL", "GAP"),
}
"""The parameters of each function in order; OFFSET is optional."""

_MOST_DIGITS = 3
"""The precision of times that windows are assigned by."""


def bind_window_function(context: Context, call: ast.FunctionCall, outer: Scope | None) -> Rel:
    """``TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL …)`` and its like, arguments by position or by name.

    Raises :class:`BindError` if an argument is missing or wrong, or the column is no time attribute.
    """
    kind = str(call.name).upper()
    arguments = _arguments(kind, call)
    data = arguments["DATA"]
    if isinstance(data, ast.SubQuery):
        data = ast.TableArgument(data.query, span=data.span)
    if not isinstance(data, ast.TableArgument):
        raise BindError(f"the first argument of {kind} is a table", data.span, f"write {kind}(TABLE t, …)")
    rel = bind_inner_query(context, data.query, outer)
    time_index = _time_column(kind, arguments["TIMECOL"], rel.row_type, any_time=is_batch_mode(context.config))
    time = rel.row_type.fields[time_index].type
    if not time.is_time_attribute:
        rel = Watermark(input=rel, rowtime_index=time_index, expr=InputRef(time_index, time))
    binder = ExpressionBinder(context, Scope((Namespace(rel.row_type, 0),), outer), kind)
    intervals = {
        name: _interval(binder, kind, name, node)
        for name, node in arguments.items()
        if name not in ("DATA", "TIMECOL") and not isinstance(node, ast.DefaultArgument)
    }
    durations = {name: int(interval.value) for name, interval in intervals.items()}
    _check_durations(kind, durations, arguments)
    return WindowFunction(
        input=rel,
        kind=kind,
        time_index=time_index,
        size=durations["GAP" if kind == "SESSION" else "SIZE"],
        slide=durations.get("SLIDE", durations.get("STEP")),
        offset=durations.get("OFFSET"),
        intervals=tuple(intervals[name] for name in _SHOWN if name in intervals),
        partition_keys=_partition(binder, kind, data),
    )


_SHOWN = ("SLIDE", "STEP", "GAP", "SIZE", "OFFSET")
"""The order of intervals in what EXPLAIN shows of a call."""


def _arguments(kind: str, call: ast.FunctionCall) -> dict[str, ast.Expression]:
    parameters = PARAMETERS[kind]
    arguments: dict[str, ast.Expression] = {}
    for position, argument in enumerate(call.args):
        if isinstance(argument, ast.NamedArgument):
            name = argument.name.name.upper()
            if name not in parameters:
                raise BindError(
                    f"{kind} has no parameter {argument.name.name}", argument.name.span, did_you_mean(name, parameters)
                )
            arguments[name] = argument.value
        elif position < len(parameters):
            arguments[parameters[position]] = argument
        else:
            raise BindError(f"{kind} takes {len(parameters)} arguments at most", argument.span)
    missing = [p for p in parameters if p not in arguments and p != "OFFSET"]
    if missing:
        raise BindError(
            f"{kind} lacks {' and '.join(missing)}",
            call.span,
            f"it takes ({', '.join(parameters)}), OFFSET may be left out",
        )
    return arguments


def _time_column(kind: str, node: ast.Expression, row_type: LogicalType, *, any_time: bool) -> int:
    """The index of the time column; ``any_time``: it may be any timestamp, since all rows are there."""
    if not isinstance(node, ast.Descriptor) or len(node.columns) != 1:
        raise BindError(f"{kind} takes its time column as DESCRIPTOR(column)", node.span)
    column = node.columns[0]
    if column.name not in row_type.field_names:
        raise BindError(
            f"there is no column '{column.name}' in the table of {kind}",
            column.span,
            did_you_mean(column.name, row_type.field_names),
        )
    index = row_type.field_names.index(column.name)
    t = row_type.fields[index].type
    is_timestamp = t.root in TIMESTAMPS and (t.precision or 0) <= _MOST_DIGITS
    if not t.is_time_attribute and not (any_time and is_timestamp):
        raise BindError(
            f"{kind} needs a time attribute, but '{column.name}' is a plain {t.nullable_()}",
            column.span,
            _time_hint(row_type, column.name),
        )
    return index


def _time_hint(row_type: LogicalType, name: str) -> str:
    """A hint for a missing time attribute: another column that is one, or a watermark for this one."""
    times = [f.name for f in row_type.fields if f.type.is_time_attribute]
    take = f"take '{times[0]}'" if times else "take a TIMESTAMP column with a WATERMARK"
    chosen = next(f for f in row_type.fields if f.name == name).type
    if chosen.root not in TIMESTAMPS:
        return take
    declare = f"declare it in its table: WATERMARK FOR {name} AS {name} - INTERVAL '5' SECOND"
    return f"{take}, or {declare}" if times else f"{declare}; a time that is computed or aggregated has none"


def _interval(binder: ExpressionBinder, kind: str, name: str, node: ast.Expression) -> Literal:
    rex = binder.bind(node)
    if not isinstance(rex, Literal) or not is_interval(rex.type) or is_year_month(rex.type):
        raise BindError(
            f"{name} of {kind} is a literal interval of days or less", node.span, "write INTERVAL '10' MINUTES"
        )
    return rex


def _check_durations(kind: str, durations: dict[str, int], nodes: dict[str, ast.Expression]) -> None:
    for name, value in durations.items():
        if value <= 0 and name != "OFFSET":
            raise BindError(f"{name} of {kind} must be positive", nodes[name].span)
    size, offset = durations.get("SIZE", 0), durations.get("OFFSET", 0)
    if offset and kind == "TUMBLE" and abs(offset) >= size:
        raise BindError(
            f"the OFFSET of {kind} must be less than its SIZE: {abs(offset)} ms is not less than {size} ms",
            nodes["OFFSET"].span,
            f"an offset of {_remainder(offset, size)} ms gives the same windows",
        )
    step = durations.get("STEP")
    if step is not None and size % step:
        raise BindError(
            f"the SIZE of CUMULATE must be a multiple of its STEP: {size} ms is none of {step} ms", nodes["SIZE"].span
        )


def _remainder(offset: int, limit: int) -> int:
    return abs(offset) % limit * (1 if offset > 0 else -1)


def _partition(binder: ExpressionBinder, kind: str, data: ast.TableArgument) -> tuple[int, ...]:
    keys = []
    for node in data.partition_by:
        rex = binder.bind(node)
        if not isinstance(rex, InputRef):
            raise BindError(f"PARTITION BY of {kind} takes columns", node.span)
        keys.append(rex.index)
    return tuple(keys)

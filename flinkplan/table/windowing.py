"""Group windows and OVER windows of the Table API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..plan import specs
from ..plan.durations import format_iso_duration
from ..plan.functions import Arguments
from ..plan.functions.typing import is_interval, is_year_month
from ..plan.rex import InputRef, Literal, RexNode
from ..plan.specs import AggregateCall
from ..plan.types import INT
from ..planner.algebra.physical import LegacyWindowAggregate
from ..planner.algebra.rel import Rel
from ..planner.binder.over import over_type
from ..planner.rex.unplanned import Frame, Over
from .expression import Expression
from .literals import literal
from .naming import ValidationError
from .relations import aggregated, operands_of
from .resolving import Resolver
from .window import GroupWindow, OverWindow

_KINDS = {"start": "WindowStart", "end": "WindowEnd", "rowtime": "Rowtime", "proctime": "Proctime"}


def window_aggregated(
    rel: Rel,
    resolver: Resolver,
    window: GroupWindow,
    groups: Sequence[Any],
    aggregates: Sequence[tuple[str, Expression]],
    properties: Sequence[tuple[str, str]],
) -> Rel:
    """The aggregation by a window.  Raises :class:`ValidationError` if its time is no time attribute."""
    time = resolver.rex(window.time)
    if not isinstance(time, InputRef) or not time.type.is_time_attribute:
        raise ValidationError(
            f"the window '{window.name}' is on '{window.time}', which is no time attribute",
            hint="declare a WATERMARK for the column, or use a column of PROCTIME()",
        )
    field = specs.TimeField(resolver.names[time.index], time.index, 0, time.type)
    reference = specs.WindowReference(window.name or "", time.type)
    by_window = _group_window(resolver, window, field, reference)
    named = tuple(
        specs.NamedWindowProperty(name, specs.WindowProperty(_KINDS[kind], reference)) for name, kind in properties
    )

    def build(source: Rel, grouping: tuple[int, ...], calls: tuple[AggregateCall, ...]) -> Rel:
        return LegacyWindowAggregate(
            input=source, grouping=grouping, calls=calls, window=by_window, properties=named, emit=None
        )

    return aggregated(rel, resolver, groups, aggregates, build, reads_all=True)


def _group_window(
    resolver: Resolver, window: GroupWindow, field: specs.TimeField, reference: specs.WindowReference
) -> specs.GroupWindow:
    size, is_time = _size(resolver, window.size)
    if window.kind == "SESSION" and not is_time:
        raise ValidationError("the gap of a session is a number of rows", hint="write lit(10).minutes")
    if not is_time and not field.field_type.is_proctime:
        raise ValidationError("a window of a number of rows is on processing time", hint="use a column of PROCTIME()")
    if window.kind == "SESSION":
        return specs.SessionGroupWindow(reference, field, size)
    if window.kind == "TUMBLE":
        return specs.TumblingGroupWindow(reference, field, is_time, size)
    if window.slide is None:
        raise ValidationError("a sliding window needs every(…)")
    slide, slides_by_time = _size(resolver, window.slide)
    if slides_by_time != is_time:
        raise ValidationError("a window has a time for its size or slide, and a number of rows for the other")
    return specs.SlidingGroupWindow(reference, field, is_time, size, slide)


def _size(resolver: Resolver, size: Any) -> tuple[Any, bool]:
    """The size of a window, and whether it is a time rather than a number of rows."""
    if isinstance(size, Expression) and size._name == "row_interval":
        return size._args[0], False
    rex = resolver.rex(size)
    if not isinstance(rex, Literal) or not is_interval(rex.type) or is_year_month(rex.type):
        raise ValidationError(
            f"the size '{size}' of a window is no interval", hint="write lit(10).minutes or row_interval(3)"
        )
    return format_iso_duration(int(rex.value)), True


def over_aggregate(
    resolver: Resolver, windows: Mapping[str | None, OverWindow], aggregate: Expression, alias: Any
) -> RexNode:
    """An aggregate over a window of the table.  Raises :class:`ValidationError` if there is none of the name."""
    name = alias._args[0] if isinstance(alias, Expression) else alias
    window = windows.get(name)
    if window is None:
        raise ValidationError(f"there is no window '{name}'", hint=f"the windows are {', '.join(map(str, windows))}")
    order = resolver.rex(window.order)
    if not order.type.is_time_attribute:
        raise ValidationError(
            f"the window '{name}' is ordered by '{window.order}', which is no time attribute",
            hint="declare a WATERMARK for the column, or use a column of PROCTIME()",
        )
    function, distinct, operands = operands_of(resolver, aggregate)
    frame = _frame(resolver, window)
    arguments = Arguments(tuple(o.type for o in operands), operands, grouped=True)
    return Over(
        function=function,
        operands=operands,
        type=over_type(function, arguments),
        partition=resolver.all(window.partition),
        order=((order, True, False),),
        frame=frame,
        distinct=distinct,
    )


def _frame(resolver: Resolver, window: OverWindow) -> Frame:
    lower, is_rows = _bound(resolver, window.lower)
    upper, upper_rows = _bound(resolver, window.upper) if window.upper is not None else (0, is_rows)
    if is_rows != upper_rows:
        raise ValidationError("both bounds of an over window are rows, or both are times")
    return Frame(is_rows=is_rows, lower=lower, upper=upper)


def _bound(resolver: Resolver, bound: Any) -> tuple[RexNode | int | None, bool]:
    """A bound of a window, and whether it counts rows."""
    if bound is None:
        return None, False
    if isinstance(bound, Expression) and bound._name == "bound":
        name = bound._args[0]
        return (None if name.startswith("UNBOUNDED") else 0), name.endswith("ROW")
    if isinstance(bound, Expression) and bound._name == "row_interval":
        return Literal(bound._args[0], INT.not_null()), True
    rex = resolver.rex(bound)
    if isinstance(rex, Literal) and is_interval(rex.type):
        return literal(int(rex.value)), False  # in SQL it stays an interval
    return rex, False

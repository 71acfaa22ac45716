"""Operators that go by the clock: something is due when time has passed, whether rows come or not."""

from __future__ import annotations

from .document import Plan
from .nodes import (
    ExecNode,
    GroupWindowAggregate,
    IntervalJoin,
    Match,
    OverAggregate,
    TemporalSort,
    WindowAggregate,
    WindowTableFunction,
)
from .specs import MatchSpec, SessionWindow


def goes_by_clock(plan: Plan) -> bool:
    """Whether a query needs batches for the passing of time alone."""
    return any(_waits(node) or _ends_matches(node, plan) for node in plan.nodes)


def _ends_matches(node: ExecNode, plan: Plan) -> bool:
    """Whether a node's matches end by the clock, so that others come out."""
    return isinstance(node, Match) and node.match_spec.interval is not None and is_by_clock(node, plan)


def tells_time(plan: Plan) -> bool:
    """Whether a query's sources are to tell the time, where its rows come one by one."""
    return any(is_by_clock(node, plan) for node in plan.nodes)


def is_by_clock(node: ExecNode, plan: Plan) -> bool:
    """Whether a node's rows are due by the clock; in a batch, all of whose rows come at once, some are so, too."""
    match node:
        case OverAggregate(over_spec=spec) if spec.groups:
            order = spec.groups[0].order_by
        case TemporalSort(order_by=order) | Match(match_spec=MatchSpec(order_by=order)):
            pass
        case _:
            return _waits(node)
    (source,) = plan.inputs(node)
    types = source.output_type.field_types
    # a plan that names a column that is not there is refused elsewhere, with the place
    return any(types[first.index].is_proctime for first in order.fields[:1] if 0 <= first.index < len(types))


def _waits(node: ExecNode) -> bool:
    match node:
        case WindowTableFunction(windowing=windowing):
            return windowing.is_proctime and isinstance(windowing.window, SessionWindow)
        case WindowAggregate(windowing=windowing):
            return windowing.is_proctime
        case GroupWindowAggregate(window=window):
            return window.time_field.field_type.is_proctime
        case IntervalJoin(interval_join_spec=spec):
            return not spec.window_bounds.is_event_time
    return False

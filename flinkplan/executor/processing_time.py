"""Operators that go by the clock: something is due when time has passed, whether rows come or not."""

from __future__ import annotations

from ..plan.document import Plan
from ..plan.nodes import ExecNode, GroupWindowAggregate, IntervalJoin, WindowAggregate, WindowTableFunction
from ..plan.specs import SessionWindow


def goes_by_clock(plan: Plan) -> bool:
    """Whether a query needs batches for the passing of time alone."""
    return any(_waits(node) for node in plan.nodes)


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

"""What rows carry beside their columns, from the operator that adds it to the next one that emits rows of its own."""

from __future__ import annotations

from ....plan.document import Plan
from ....plan.nodes import (
    ExecNode,
    LateRows,
    OverAggregate,
    ProcessTableFunction,
    Union,
    WatermarkAssigner,
    WindowOperator,
    WindowTableFunction,
)
from ....plan.specs import SessionWindow
from .row_order import PASSING

_CARRYING = (*PASSING, WatermarkAssigner)
"""What hands on rows with all that they carry."""


def carries_late_rows(plan: Plan, node: ExecNode) -> bool:
    """Whether the rows of ``node`` may be later than the watermark that they came with, which they carry then.

    An OVER window with a bounded frame takes late rows, and emits them; so do a window operator, and a process table
    function that gives its rows the times of those that it reads.
    """
    if isinstance(node, OverAggregate):
        return _takes_late_rows(plan, node)
    if isinstance(node, ProcessTableFunction) and node.is_stateful:
        return any(field.type.is_rowtime for field in node.fields)
    if isinstance(node, WindowOperator):
        return True
    return _carries(node) and any(carries_late_rows(plan, source) for source in plan.inputs(node))


def carries_watermarks(plan: Plan, node: ExecNode) -> bool:
    """Whether each row of ``node`` carries the watermark that its source had when it came, by which it may be late."""
    if isinstance(node, (WatermarkAssigner, LateRows)):
        return True
    return _carries(node) and any(carries_watermarks(plan, source) for source in plan.inputs(node))


def timing_sources(plan: Plan, node: ExecNode) -> frozenset[int]:
    """The ids of the nodes without inputs by whose one watermark the rows of ``node`` are late; none if it is not one.

    Where several nodes read other columns of one scan, each of them has an assigner of its own.
    """
    if isinstance(node, WatermarkAssigner):
        return frozenset(source.id for source in plan.upstream([node]) if not plan.inputs(source))
    if isinstance(node, Union) or not (isinstance(node, (LateRows, WindowOperator)) or _carries(node)):
        return frozenset()
    (source,) = plan.inputs(node)
    return timing_sources(plan, source)


def carries_causes(plan: Plan, node: ExecNode) -> bool:
    """Whether each row of ``node`` carries what has made a window operator emit it."""
    if isinstance(node, WindowOperator):
        return True
    return _carries(node) and any(carries_causes(plan, source) for source in plan.inputs(node))


def _carries(node: ExecNode) -> bool:
    if isinstance(node, WindowTableFunction):
        return not isinstance(node.windowing.window, SessionWindow)
    return isinstance(node, _CARRYING)


def _takes_late_rows(plan: Plan, node: OverAggregate) -> bool:
    (group,) = node.over_spec.groups
    (source,) = plan.inputs(node)
    order = source.output_type.field_types[group.order_by.fields[0].index]
    return order.is_rowtime and group.lower_bound.kind != "UNBOUNDED_PRECEDING"

"""What rows carry beside their columns, from the operator that adds it to the next one that emits rows of its own."""

from __future__ import annotations

from ..plan.document import Plan
from ..plan.nodes import (
    Calc,
    Correlate,
    DropUpdateBefore,
    Exchange,
    ExecNode,
    Expand,
    LocalGroupAggregate,
    LocalWindowAggregate,
    LookupJoin,
    MiniBatchAssigner,
    OverAggregate,
    Union,
    WatermarkAssigner,
    WindowOperator,
    WindowTableFunction,
)
from ..plan.specs import SessionWindow

_CARRYING = (
    Calc,
    Correlate,
    DropUpdateBefore,
    Exchange,
    Expand,
    LocalGroupAggregate,
    LocalWindowAggregate,
    LookupJoin,
    MiniBatchAssigner,
    Union,
    WatermarkAssigner,
)
"""What hands on rows with all that they carry."""


def carries_late_rows(plan: Plan, node: ExecNode) -> bool:
    """Whether the rows of ``node`` may be later than the watermark that they came with, which they carry then.

    An OVER window with a bounded frame takes late rows, and emits them; so does a window operator.
    """
    if isinstance(node, OverAggregate):
        return _takes_late_rows(plan, node)
    return isinstance(node, WindowOperator) or (
        _carries(node) and any(carries_late_rows(plan, i) for i in plan.inputs(node))
    )


def _carries(node: ExecNode) -> bool:
    if isinstance(node, WindowTableFunction):
        return not isinstance(node.windowing.window, SessionWindow)
    return isinstance(node, _CARRYING)


def _takes_late_rows(plan: Plan, node: OverAggregate) -> bool:
    (group,) = node.over_spec.groups
    (source,) = plan.inputs(node)
    order = source.output_type.field_types[group.order_by.fields[0].index]
    return order.is_rowtime and group.lower_bound.kind != "UNBOUNDED_PRECEDING"

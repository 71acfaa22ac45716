"""3, 4, 6 and 7: What releases have begun to write that went without saying before."""

from __future__ import annotations

from collections.abc import Callable

from ...plan.document import Plan
from ...plan.nodes import (
    Deduplicate,
    ExecNode,
    GlobalWindowAggregate,
    LocalWindowAggregate,
    OverAggregate,
    Sink,
    WindowAggregate,
)
from ...plan.record import replace
from ...plan.session import DEFAULTS

ROWTIME_INSERTER = "table.exec.sink.rowtime-inserter"

_FIRST, _SECOND = 1, 2


def say_that_rowtime_is_set(plan: Plan) -> Plan:
    """The plan with sinks that fix that they hand on event time, as all did before 1.18.

    Sinks that have nothing fixed are left alone.
    """

    def spelled_out(node: ExecNode) -> ExecNode:
        if not isinstance(node, Sink) or not node.configuration or ROWTIME_INSERTER in node.configuration:
            return node
        fixed = {**node.configuration, ROWTIME_INSERTER: DEFAULTS[ROWTIME_INSERTER]}
        return replace(node, configuration=dict(sorted(fixed.items())))

    return _each(plan, spelled_out)


def say_what_retracts(plan: Plan) -> Plan:
    """The plan with window aggregates that say whether rows are retracted, which none could before 1.19."""

    def spelled_out(node: ExecNode) -> ExecNode:
        if not isinstance(node, WindowAggregate | LocalWindowAggregate | GlobalWindowAggregate):
            return node
        return replace(node, need_retraction=False) if node.need_retraction is None else node

    return _each(plan, spelled_out)


def say_what_is_emitted(plan: Plan) -> Plan:
    """The plan with deduplications that say whether they only insert.

    Before 2.1 that was so exactly where the first row by processing time is kept.
    """

    def spelled_out(node: ExecNode) -> ExecNode:
        if not isinstance(node, Deduplicate) or node.output_insert_only is not None:
            return node
        return replace(node, output_insert_only=not node.is_rowtime and not node.keep_last_row)

    return _each(plan, spelled_out)


def say_which_function(plan: Plan) -> Plan:
    """The plan with OVER windows that say which of Flink's functions computes unbounded ones.

    Of bounded ones the number says nothing, and is the newest.
    """

    def spelled_out(node: ExecNode) -> ExecNode:
        if not isinstance(node, OverAggregate) or node.unbounded_over_version is not None:
            return node
        return replace(node, unbounded_over_version=_FIRST if _is_unbounded(node) else _SECOND)

    return _each(plan, spelled_out)


def _is_unbounded(node: OverAggregate) -> bool:
    return any(group.lower_bound.kind == "UNBOUNDED_PRECEDING" for group in node.over_spec.groups)


def _each(plan: Plan, change: Callable[[ExecNode], ExecNode]) -> Plan:
    return replace(plan, nodes=tuple(map(change, plan.nodes)))

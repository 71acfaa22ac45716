"""3, 4, 6 and 7: Fields and options that newer releases write, with the values that were implied before."""

from __future__ import annotations

from collections.abc import Callable

from ...plan.document import Plan
from ...plan.nodes import (
    Deduplicate,
    ExecNode,
    GlobalWindowAggregate,
    LocalWindowAggregate,
    OverAggregate,
    WindowAggregate,
)
from ...plan.record import replace
from ...plan.session import DEFAULTS

ROWTIME_INSERTER = "table.exec.sink.rowtime-inserter"

_FIRST, _SECOND = 1, 2


def declare_rowtime_inserter(plan: Plan) -> Plan:
    """The plan with sinks that fix the option for event time, which all sinks emitted before 1.18.

    Sinks without a configuration are not changed.
    """

    def declare(node: ExecNode) -> ExecNode:
        if ROWTIME_INSERTER not in node.metadata.consumed_options:
            return node
        if not node.configuration or ROWTIME_INSERTER in node.configuration:
            return node
        configuration = {**node.configuration, ROWTIME_INSERTER: DEFAULTS[ROWTIME_INSERTER]}
        return replace(node, configuration=dict(sorted(configuration.items())))

    return _each(plan, declare)


def declare_retraction(plan: Plan) -> Plan:
    """The plan with window aggregates that declare that they do not retract rows, which none could before 1.19."""

    def declare(node: ExecNode) -> ExecNode:
        if not isinstance(node, WindowAggregate | LocalWindowAggregate | GlobalWindowAggregate):
            return node
        return replace(node, need_retraction=False) if node.need_retraction is None else node

    return _each(plan, declare)


def declare_insert_only(plan: Plan) -> Plan:
    """The plan with deduplications that declare whether they only insert.

    Before 2.1 only those did that keep the first row by processing time.
    """

    def declare(node: ExecNode) -> ExecNode:
        if not isinstance(node, Deduplicate) or node.output_insert_only is not None:
            return node
        return replace(node, output_insert_only=not node.is_rowtime and not node.keep_last_row)

    return _each(plan, declare)


def declare_function(plan: Plan) -> Plan:
    """The plan with OVER windows that declare the version of Flink's function for unbounded ones.

    For bounded ones the version has no effect, and is the newest.
    """

    def declare(node: ExecNode) -> ExecNode:
        if not isinstance(node, OverAggregate) or node.unbounded_over_version is not None:
            return node
        return replace(node, unbounded_over_version=_FIRST if _is_unbounded(node) else _SECOND)

    return _each(plan, declare)


def _is_unbounded(node: OverAggregate) -> bool:
    return any(group.lower_bound.kind == "UNBOUNDED_PRECEDING" for group in node.over_spec.groups)


def _each(plan: Plan, change: Callable[[ExecNode], ExecNode]) -> Plan:
    return replace(plan, nodes=tuple(map(change, plan.nodes)))

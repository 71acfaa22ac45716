"""2 and 3: What 2.1 has begun to write of deduplications and OVER windows, for plans that do not say it."""

from __future__ import annotations

from collections.abc import Callable

from ...plan.document import Plan
from ...plan.nodes import Deduplicate, ExecNode, OverAggregate
from ...plan.record import replace

_FIRST, _SECOND = 1, 2


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

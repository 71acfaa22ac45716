"""Where the changes of a key in one micro-batch may come to one."""

from __future__ import annotations

from collections.abc import Mapping

from ....plan.document import Plan
from ....plan.nodes import ExecNode, ProcessTableFunction, Sink, TemporalJoin
from ....plan.specs import ReceivedKind
from ...connectors.tables import defined_options
from ...formats import keeps_journal


def asks_for_changes(plan: Plan) -> bool:
    """Whether an operator asks for each version of a row.

    These are temporal joins, and process table functions that read updates.
    """
    return any(isinstance(node, TemporalJoin) or _sees_changes(node) for node in plan.nodes)


def shows_changes(plan: Plan, variables: Mapping[str, str]) -> bool:
    """Whether a sink of a plan keeps a journal; ``variables`` are those of table options."""
    sinks = (node.dynamic_table_sink.table for node in plan.nodes if isinstance(node, Sink))
    return any(keeps_journal(defined_options(sink, variables)) for sink in sinks)


def _sees_changes(node: ExecNode) -> bool:
    """Whether a function of the user's sees each change of a row."""
    if not isinstance(node, ProcessTableFunction):
        return False
    return any(kind is not ReceivedKind.INSERT for kinds in node.input_changelog_modes for kind in kinds)

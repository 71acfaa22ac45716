"""Where the changes of a key in one micro-batch may come to one."""

from __future__ import annotations

from collections.abc import Mapping

from ....plan.document import Plan
from ....plan.nodes import ExecNode, ProcessTableFunction, Sink, TemporalJoin
from ....plan.specs import ReceivedKind
from ...connectors.tables import defined_options
from ...formats import keeps_journal


def folds_changes(plan: Plan, variables: Mapping[str, str]) -> bool:
    """Whether no sink of a plan keeps a journal, and no operator asks for each version of a row.

    These are temporal joins, and process table functions that read updates.  ``variables`` are those of table options.
    """
    if any(isinstance(node, TemporalJoin) or _sees_changes(node) for node in plan.nodes):
        return False
    sinks = (node.dynamic_table_sink.table for node in plan.nodes if isinstance(node, Sink))
    return not any(keeps_journal(defined_options(sink, variables)) for sink in sinks)


def _sees_changes(node: ExecNode) -> bool:
    """Whether a function of the user's sees each change of a row."""
    if not isinstance(node, ProcessTableFunction):
        return False
    return any(kind is not ReceivedKind.INSERT for kinds in node.input_changelog_modes for kind in kinds)

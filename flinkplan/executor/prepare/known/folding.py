"""Where the changes of a key in one micro-batch may come to one."""

from __future__ import annotations

from collections.abc import Mapping

from ....plan.document import Plan
from ....plan.nodes import Sink, TemporalJoin
from ...connectors.tables import defined_options
from ...formats import keeps_journal


def folds_changes(plan: Plan, variables: Mapping[str, str]) -> bool:
    """Whether no sink of a plan keeps a journal, and no temporal join asks for each version of a row.

    ``variables`` are those of table options.
    """
    if any(isinstance(node, TemporalJoin) for node in plan.nodes):
        return False
    sinks = (node.dynamic_table_sink.table for node in plan.nodes if isinstance(node, Sink))
    return not any(keeps_journal(defined_options(sink, variables)) for sink in sinks)

"""9 and 10: Since 2.3 sources and sinks have version 2."""

from __future__ import annotations

from collections.abc import Callable

from ...plan.document import Plan
from ...plan.nodes import ExecNode, Sink, TableSourceScan
from ...plan.record import replace

_NEWER = 2


def newer_sources(plan: Plan) -> Plan:
    """The plan with sources of version 2."""
    return _versioned(plan, lambda node: isinstance(node, TableSourceScan))


def newer_sinks(plan: Plan) -> Plan:
    """The plan with sinks of version 2, except for those with state.

    Version 2 can only restore state that 2.3 wrote, and version 1 is still supported.
    """
    return _versioned(plan, lambda node: isinstance(node, Sink) and not node.is_stateful)


def _versioned(plan: Plan, chosen: Callable[[ExecNode], bool]) -> Plan:
    """Of the nodes that are chosen, those that have such a version, which nodes of batch mode do not."""
    nodes = (
        replace(n, version=max(_NEWER, n.version)) if chosen(n) and _NEWER in n.metadata.versions else n
        for n in plan.nodes
    )
    return replace(plan, nodes=tuple(nodes))

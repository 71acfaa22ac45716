"""From the physical algebra to the compiled plan: one function per operator, found by its class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...plan.document import FLINK_VERSION, Edge, Plan
from ...plan.nodes.base import ExecNode
from ...plan.record import replace
from ..algebra.dispatch import Dispatch
from ..physical.reuse import Operator
from . import aggregates, joins, patterns, process_tables, ranks, relational, stream_windows, windows
from .context import Context, Texts

_FAMILIES = (relational, aggregates, windows, stream_windows, joins, patterns, process_tables, ranks)

_RULES: Dispatch[ExecNode] = Dispatch(
    "the exec node",
    {cls: rule for family in _FAMILIES for cls, rule in family.RULES.items()},
    unknown=(),
    physical=True,
)

TEXTS: Texts = {cls: text for family in _FAMILIES for cls, text in family.TEXTS.items()}
"""The parts of each operator in ``explain --rules``."""


def lower(operators: Sequence[Operator], config: Mapping[str, str], *, complete: bool = False) -> Plan:
    """The plan of a job's operators.  Ids count from 1, in their order.  ``complete``: :class:`Context`."""
    context = Context(config, complete)
    nodes = [replace(_RULES[o.rel](o.rel, context), id=i) for i, o in enumerate(operators, 1)]
    edges = [Edge(source + 1, i) for i, operator in enumerate(operators, 1) for source in operator.inputs]
    return Plan(FLINK_VERSION, tuple(nodes), tuple(edges))

"""Functions whose results are in state, and have changed since: a query goes on with those that it began with."""

from __future__ import annotations

from collections.abc import Mapping

from ...plan.document import Plan
from ...plan.functions.conditional import FORMER_HASH_CODE, HASH_CODE
from ...plan.nodes import Calc
from ...plan.record import replace
from ...plan.rex import Call, RexNode, transform


def with_former_functions(plan: Plan, versions: Mapping[str, str]) -> Plan:
    """The plan with functions as ``versions`` has them by their internal names; those it lacks are the former ones.

    HASH_CODE stands in the calcs that divide the values of DISTINCT calls.
    """
    if HASH_CODE.internal_name in versions:
        return plan
    nodes = tuple(_renamed(node) if isinstance(node, Calc) else node for node in plan.nodes)
    return replace(plan, nodes=nodes)


def _renamed(node: Calc) -> Calc:
    condition = node.condition and transform(node.condition, _former)
    return replace(node, projection=tuple(transform(rex, _former) for rex in node.projection), condition=condition)


def _former(rex: RexNode) -> RexNode:
    is_hash = isinstance(rex, Call) and rex.name == HASH_CODE.internal_name
    return replace(rex, name=FORMER_HASH_CODE) if is_hash else rex

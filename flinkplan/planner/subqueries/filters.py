"""Filters above the joins of correlated subqueries."""

from __future__ import annotations

from ...plan.specs import JoinType
from ..algebra.logical import Filter, Join, TemporalJoin
from ..algebra.rel import Rel
from ..rex.expressions import is_always_false
from ..rex.simplify import simplify_condition
from ..rules.predicates import push_into_join, push_past_project
from ..rules.rule import Order, RuleSet, rule
from ..rules.table_functions import name_by_projection, push_past_correlate
from .decorrelation import not_decorrelated_beside

_NEVER = "a condition that never holds"


@rule(on=Filter, over=(Join, TemporalJoin))
def push_into_join_of_subquery(rel: Filter, below: Join | TemporalJoin) -> Rel:
    """FilterCorrelateRule and FILTER_INTO_JOIN, whose filters are built anew.

    Raises :class:`UnsupportedError` where one of these never holds: it becomes ``Values``, and Flink decorrelates no
    tree with such.
    """
    if _never_holds(rel) and below.type is not JoinType.FULL:
        raise not_decorrelated_beside(_NEVER)
    new = push_into_join(rel)
    join = new.input if isinstance(new, Filter) else new
    if any(_never_holds(side) for side in join.inputs if side not in below.inputs):
        raise not_decorrelated_beside(_NEVER)
    return new


def _never_holds(rel: Rel) -> bool:
    return isinstance(rel, Filter) and is_always_false(simplify_condition(rel.condition))


PUSH_PAST_JOINS_OF_SUBQUERIES = RuleSet(
    "push_past_joins_of_subqueries",
    (push_past_project, push_into_join_of_subquery, push_past_correlate, name_by_projection),
    Order.BOTTOM_UP,
    to_fixpoint=True,
)
"""Push the filters of a query with joins of subqueries, which are correlates in Flink.

Source: ``RelDecorrelator.decorrelate``.
"""

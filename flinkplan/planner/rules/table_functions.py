"""Filters above table functions, which read each row of another relation."""

from __future__ import annotations

from ...plan.record import replace
from ...plan.specs import JoinType
from ..algebra.builders import filtered
from ..algebra.logical import Correlate, Filter, Join, Project, TemporalJoin, Values
from ..algebra.rel import Rel
from ..algebra.row_types import row_of
from ..rex.expressions import and_, conjunctions, is_always_false, shift
from ..rex.simplify import simplify_condition
from .joins.expressions import push_join_expressions
from .predicates import push_into_join, push_past_project, split_by_side
from .reduce import constants
from .rule import Order, RuleSet, rule


@rule(on=Filter, over=Correlate)
def push_past_correlate(rel: Filter, below: Correlate) -> Rel:
    """FilterCorrelateRule: conditions on the outer row go below, those on the function's columns into the correlate.

    A function that no row is joined with stays below its filter.  The columns of a function below a filter lose the
    names of the statement: ``ProjectRemoveRule`` removes the projection with these.
    """
    width = below.input.width
    if not width:
        return rel
    left, right, rest = split_by_side(conjunctions(rel.condition), width)
    if below.type is JoinType.LEFT:
        right, rest = [], [*right, *rest]
    if is_always_false(simplify_condition(and_(left or [rel.condition]))):  # a filter made anew becomes Values
        return replace(below, input=Values(tuples=(), fields=below.input.row_type))
    own = [*conjunctions(below.condition), *(shift(r, -width) for r in right)]
    condition = simplify_condition(and_(own)) if right else below.condition
    new = name_by_projection(replace(below, input=filtered(below.input, left), condition=condition))
    return filtered(replace(new, aliases=None) if rest else new, [p for p in conjunctions(rel.condition) if p in rest])


@rule(on=Correlate)
def name_by_projection(rel: Correlate) -> Rel:
    """A function of which the condition fixes a column: the projection that named its columns has become its own."""
    if rel.condition is None:
        return rel
    function = rel.function_type
    if not constants(Filter(input=Values(tuples=(), fields=function), condition=rel.condition)):
        return rel
    return replace(rel, function_type=row_of(rel.names[rel.input.width :], function.field_types))


@rule(on=Project, over=Correlate)
def merge_aliases(rel: Project, below: Correlate) -> Rel:
    """FlinkProjectMergeRule: the projection that names a function's columns is merged with the one above it."""
    return replace(rel, input=replace(below, aliases=None))


@rule(on=Filter, over=(Join, TemporalJoin))
def push_into_plain_join(rel: Filter, below: Join | TemporalJoin) -> Rel:
    """FILTER_INTO_JOIN of a join of columns; one that compares expressions has become a projection of a join."""
    return rel if push_join_expressions(below) is not below else push_into_join(rel)


_STEPS = ((push_into_plain_join,), (push_past_project,), (push_past_correlate, name_by_projection))

PUSH_PAST_CORRELATES = tuple(
    RuleSet(f"push_past_correlates_{place}", rules, Order.BOTTOM_UP, to_fixpoint=True)
    for place, rules in enumerate(_STEPS, 1)
)
"""Push the filters of a query with correlates as they are written; what follows from them later stays above.

One rule after the other, so that a filter that meets a join only below a projection stays there.
Source: ``RelDecorrelator.decorrelate``.
"""

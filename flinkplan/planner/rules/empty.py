"""Relations that are known to have no rows.

Sources: ``ReduceExpressionsRule`` for conditions that never hold, ``PruneEmptyRules``, ``FlinkPruneEmptyRules``,
``AggregateValuesRule``.
"""

from __future__ import annotations

from ...plan.functions import EmptyResult, aggregation_of
from ...plan.record import replace
from ...plan.rex import Literal, RexNode
from ...plan.specs import AggregateCall, JoinType
from ..algebra.builders import distinct
from ..algebra.logical import Aggregate, Filter, Join, Project, SetKind, SetOp, Sort, Values
from ..algebra.rel import Rel
from ..rex.expressions import identity, is_always_false
from .rule import RuleSequence, rule


@rule(on=(Filter, Sort, Project, Aggregate, SetOp, Join))
def prune_empty(rel: Rel) -> Rel:
    """Replace a relation that has no rows by an empty ``Values``."""
    if isinstance(rel, Filter) and is_always_false(rel.condition):
        return nothing(rel)
    for prune in PRUNE_IN_TURN.rules:
        if prune.matches(rel):
            return prune.applied(rel)
    return rel


@rule(on=SetOp)
def prune_set_operation(rel: SetOp) -> Rel:
    """A UNION ALL without its empty operands; INTERSECT and EXCEPT without rows."""
    match rel:
        case SetOp(kind=SetKind.UNION, all=True):
            return _union(rel)
        case SetOp(kind=SetKind.INTERSECT) if any(map(is_empty, rel.operands)):
            return nothing(rel)
        case SetOp(kind=SetKind.EXCEPT):
            return _except(rel)
    return rel


@rule(on=Project, over=Values)
def prune_projection(rel: Project, below: Values) -> Rel:
    """A projection of nothing is nothing."""
    return nothing(rel) if is_empty(below) else rel


@rule(on=Filter, over=Values)
def prune_filter(rel: Filter, below: Values) -> Rel:
    """A filter of nothing is nothing."""
    return nothing(rel) if is_empty(below) else rel


@rule(on=Sort)
def prune_sort(rel: Sort) -> Rel:
    """A sorting of nothing, or of which no row is kept, is nothing."""
    return nothing(rel) if rel.fetch == 0 or is_empty(rel.input) else rel


@rule(on=Aggregate, over=Values)
def prune_aggregate(rel: Aggregate, below: Values) -> Rel:
    """An aggregation of nothing is nothing, or one row where it has no groups."""
    return _aggregate(rel) if is_empty(below) else rel


@rule(on=Join)
def prune_join(rel: Join) -> Rel:
    """A join with an empty input is empty, or has the rows of the outer side with NULLs."""
    return _join(rel)


PRUNE_IN_TURN = RuleSequence(
    "prune_in_turn",
    (prune_set_operation, prune_projection, prune_filter, prune_sort, prune_aggregate, prune_join),
)
"""One kind of relation after the other, so that a projection of a filter of nothing stays.

Source: ``FlinkStreamRuleSets.PRUNE_EMPTY_RULES``, run in their order after filters were pushed down.
"""


def is_empty(rel: Rel) -> bool:
    """Whether a relation is known to have no rows."""
    return isinstance(rel, Values) and not rel.tuples


def nothing(rel: Rel) -> Values:
    """No rows of the relation's type."""
    return Values(tuples=(), fields=rel.row_type)


def _aggregate(rel: Aggregate) -> Rel:
    """An aggregation without groups has one row even over no rows."""
    if rel.grouping:
        return nothing(rel)
    if any(aggregation_of(c.internal_name).empty_result is None for c in rel.calls):
        return rel
    return Values(tuples=(tuple(map(_value_without_rows, rel.calls)),), fields=rel.row_type)


def _value_without_rows(call: AggregateCall) -> RexNode:
    is_zero = aggregation_of(call.internal_name).empty_result is EmptyResult.ZERO
    return Literal(0 if is_zero else None, call.type)


def _union(rel: SetOp) -> Rel:
    kept = tuple(o for o in rel.operands if not is_empty(o))
    if len(kept) == len(rel.operands):
        return rel
    if not kept:
        return nothing(rel)
    if len(kept) > 1:
        return replace(rel, operands=kept)
    return kept[0] if kept[0].types == rel.types else rel


def _except(rel: SetOp) -> Rel:
    if is_empty(rel.operands[0]):
        return nothing(rel)
    kept = tuple(o for o in rel.operands if not is_empty(o))
    if len(kept) > 1:
        return rel if len(kept) == len(rel.operands) else replace(rel, operands=kept)
    return kept[0] if rel.all else distinct(kept[0])


def _join(rel: Join) -> Rel:
    never = is_always_false(rel.condition)
    left = is_empty(rel.left) or (never and rel.type is JoinType.RIGHT)
    right = is_empty(rel.right) or (never and rel.type not in (JoinType.RIGHT, JoinType.FULL))
    if left and rel.type not in (JoinType.RIGHT, JoinType.FULL):
        return nothing(rel)
    if right and rel.type in (JoinType.INNER, JoinType.RIGHT, JoinType.SEMI):
        return nothing(rel)
    if left and right:
        return nothing(rel)
    if right and rel.type is JoinType.ANTI:
        return rel.left
    if not left and not right:
        return rel
    kept, width = (rel.right, rel.left.width) if left else (rel.left, 0)
    columns = identity(kept.types)
    exprs = tuple(
        columns[i - width] if 0 <= i - width < len(columns) else Literal(None, t) for i, t in enumerate(rel.types)
    )
    return Project(input=kept, exprs=exprs, names=rel.names)

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
from .rule import rule


@rule(on=(Filter, Sort, Project, Aggregate, SetOp, Join))
def prune_empty(rel: Rel) -> Rel:
    """Replace a relation that has no rows by an empty ``Values``."""
    match rel:
        case Filter() if is_always_false(rel.condition) or is_empty(rel.input):
            return _nothing(rel)
        case Sort() if rel.fetch == 0 or is_empty(rel.input):
            return _nothing(rel)
        case Project() if is_empty(rel.input):
            return _nothing(rel)
        case Aggregate() if is_empty(rel.input):
            return _aggregate(rel)
        case SetOp(kind=SetKind.UNION, all=True):
            return _union(rel)
        case SetOp(kind=SetKind.INTERSECT) if any(map(is_empty, rel.operands)):
            return _nothing(rel)
        case SetOp(kind=SetKind.EXCEPT):
            return _except(rel)
        case Join():
            return _join(rel)
    return rel


@rule(on=(Filter, Sort, Project, Aggregate))
def reduce_empty(rel: Rel) -> Rel:
    """The same of what Flink's reduction of expressions does: joins and other relations of nothing stay for now."""
    match rel:
        case Filter() | Project():
            return prune_empty(rel)
        case Sort() if rel.fetch == 0:
            return _nothing(rel)
        case Aggregate(grouping=()) if is_empty(rel.input):
            return _aggregate(rel)
    return rel


def is_empty(rel: Rel) -> bool:
    """Whether a relation is known to have no rows."""
    return isinstance(rel, Values) and not rel.tuples


def _nothing(rel: Rel) -> Values:
    return Values(tuples=(), fields=rel.row_type)


def _aggregate(rel: Aggregate) -> Rel:
    """An aggregation without groups has one row even over no rows."""
    if rel.grouping:
        return _nothing(rel)
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
        return _nothing(rel)
    if len(kept) > 1:
        return replace(rel, operands=kept)
    return kept[0] if kept[0].types == rel.types else rel


def _except(rel: SetOp) -> Rel:
    if is_empty(rel.operands[0]):
        return _nothing(rel)
    kept = tuple(o for o in rel.operands if not is_empty(o))
    if len(kept) > 1:
        return rel if len(kept) == len(rel.operands) else replace(rel, operands=kept)
    return kept[0] if rel.all else distinct(kept[0])


def _join(rel: Join) -> Rel:
    """A join with an empty input is empty, or has the rows of the outer side with NULLs."""
    never = is_always_false(rel.condition)
    left = is_empty(rel.left) or (never and rel.type is JoinType.RIGHT)
    right = is_empty(rel.right) or (never and rel.type not in (JoinType.RIGHT, JoinType.FULL))
    if left and rel.type not in (JoinType.RIGHT, JoinType.FULL):
        return _nothing(rel)
    if right and rel.type in (JoinType.INNER, JoinType.RIGHT, JoinType.SEMI):
        return _nothing(rel)
    if left and right:
        return _nothing(rel)
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

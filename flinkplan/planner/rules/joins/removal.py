"""Outer joins that can be removed.

Sources: Calcite's ``ProjectJoinRemoveRule``, ``AggregateJoinRemoveRule``.
"""

from __future__ import annotations

from ....plan.record import replace
from ....plan.specs import JoinType
from ...algebra.logical import Aggregate, Join, Project, TemporalJoin
from ...algebra.rel import Rel
from ...metadata.join_kinds import join_keys
from ...metadata.uniqueness import are_columns_unique
from ...rex.expressions import are_columns, refs, shift
from ..aggregates.projections import merge_projection
from ..rule import rule


@rule(on=Project, over=Join)
def remove_joins(rel: Project, join: Join) -> Rel:
    """Remove an outer join where the projection reads the preserved side only, and no row of it has two matches."""
    return _over_preserved(rel, join) or rel if _matches_once(join) else rel


@rule(on=Aggregate, over=Project)
def remove_joins_below_aggregates(rel: Aggregate, below: Project) -> Rel:
    """The same below an aggregation whose result does not depend on how often a row occurs."""
    if not isinstance(below.input, (Join, TemporalJoin)) or not all(call.distinct for call in rel.calls):
        return rel
    if not are_columns(below.exprs):
        return rel
    kept = _over_preserved(below, below.input)
    return rel if kept is None else merge_projection(rel, kept)


def _over_preserved(rel: Project, join: Join | TemporalJoin) -> Project | None:
    """The projection over the preserved side of an outer join, if it reads nothing of the other side."""
    width = join.left.width
    read = set().union(*map(refs, rel.exprs))
    if join.type is JoinType.LEFT and all(i < width for i in read):
        return replace(rel, input=join.left)
    if join.type is JoinType.RIGHT and all(i >= width for i in read):
        return replace(rel, input=join.right, exprs=tuple(shift(e, -width) for e in rel.exprs))
    return None


def _matches_once(join: Join) -> bool:
    """Whether no row of the preserved side has two matches."""
    keys = join_keys(join.condition, join.left.width)
    if join.type is JoinType.LEFT:
        return are_columns_unique(join.right, keys.right) is True
    return join.type is JoinType.RIGHT and are_columns_unique(join.left, keys.left) is True

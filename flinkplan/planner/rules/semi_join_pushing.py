"""Semi and anti joins below inner joins, where Flink expects that to cost less.

Sources: ``FlinkSemiAntiJoinJoinTransposeRule``, ``FlinkSemiAntiJoinProjectTransposeRule``.
"""

from __future__ import annotations

from ...plan.record import replace
from ...plan.rex import InputRef
from ...plan.specs import JoinType
from ..algebra.logical import Join, Project, Rel
from ..metadata.estimates import Estimates
from ..rex.expressions import refs, remap
from .predicates import ONE_SIDED


def push_semi_joins(rel: Rel) -> Rel:
    """A semi or anti join with an inner join goes to the side whose columns it reads, if that is cheaper."""
    if not isinstance(rel, Join) or rel.type not in ONE_SIDED:
        return rel
    pushed = _past_project(rel, rel.left) if isinstance(rel.left, Project) else _past_join(rel)
    if pushed is None:
        return rel
    estimates = Estimates()
    return pushed if estimates.cost(pushed) <= estimates.cost(rel) else rel


def _past_project(rel: Join, below: Project) -> Project | None:
    if not all(isinstance(e, InputRef) for e in below.exprs):
        return None
    width, inner_width = len(below.exprs), len(below.input.row_type.fields)
    place = {i: e.index for i, e in enumerate(below.exprs) if isinstance(e, InputRef)}
    place |= {width + i: inner_width + i for i in range(len(rel.right.row_type.fields))}
    inner = replace(rel, left=below.input, condition=remap(rel.condition, place), row_type=below.input.row_type)
    pushed = _past_join(inner)
    return None if pushed is None else replace(below, input=pushed)


def _past_join(rel: Join) -> Join | None:
    join = rel.left
    if not isinstance(join, Join) or join.type is not JoinType.INNER:
        return None
    width, inner_width = len(join.left.row_type.fields), len(join.row_type.fields)
    read = refs(rel.condition)
    own = {i for i in read if i < inner_width}
    if not own or own == read:
        return None
    if max(own) < width:
        place = {i: i for i in own} | {i: i - inner_width + width for i in read - own}
        left = _semi_join(rel, join.left, place)
        return replace(join, left=left)
    if min(own) >= width:
        return replace(join, right=_semi_join(rel, join.right, {i: i - width for i in read}))
    return None


def _semi_join(rel: Join, left: Rel, place: dict[int, int]) -> Rel:
    condition = remap(rel.condition, place)
    return push_semi_joins(replace(rel, left=left, condition=condition, row_type=left.row_type))

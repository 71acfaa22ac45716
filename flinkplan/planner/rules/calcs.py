"""Filters and projections as calcs.  Sources: ``FilterToCalcRule``, ``FlinkCalcMergeRule``, ``RexProgramBuilder``."""

from __future__ import annotations

from ...plan.record import replace
from ..algebra.builders import calc, merge_calc
from ..algebra.logical import Filter, Project
from ..algebra.physical import Calc
from ..algebra.rel import Rel
from ..rex.alike import shared
from ..rex.expressions import identity
from .rule import rule


@rule(on=(Filter, Project))
def to_calc(rel: Filter | Project) -> Rel:
    """A filter or projection as a calc, merged with a calc below it."""
    if isinstance(rel, Project):
        return calc(rel.input, rel.exprs, rel.names, merges_python=True)
    names = rel.given or rel.names
    return calc(rel.input, identity(rel.types), names, rel.condition, merges_python=True, simplifies=False)


@rule(on=Calc)
def merge_calcs(rel: Calc) -> Rel:
    """Two adjacent calcs become one; a calc that changes nothing is removed."""
    return merge_calc(rel, merges_python=True)


@rule(on=Calc)
def share_calls(rel: Calc) -> Calc:
    """``a < b`` and ``b > a`` in one calc become two of the first, of which the condition is before the columns."""
    own = rel.projection if rel.condition is None else (rel.condition, *rel.projection)
    exprs = shared(own)
    if all(new is old for new, old in zip(exprs, own, strict=True)):
        return rel
    return replace(
        rel, condition=None if rel.condition is None else exprs[0], projection=exprs[len(own) - len(rel.projection) :]
    )

"""Filters and projections as calcs.  Sources: ``FilterToCalcRule``, ``ProjectToCalcRule``, ``FlinkCalcMergeRule``."""

from __future__ import annotations

from ..algebra.builders import calc, merge_calc
from ..algebra.logical import Filter, Project
from ..algebra.physical import Calc
from ..algebra.rel import Rel
from ..rex.expressions import identity
from .rule import rule


@rule(on=(Filter, Project))
def to_calc(rel: Filter | Project) -> Rel:
    """A filter or projection as a calc, merged with a calc below it."""
    if isinstance(rel, Project):
        return calc(rel.input, rel.exprs, rel.names, merges_python=True)
    return calc(rel.input, identity(rel.types), rel.given or rel.names, rel.condition, merges_python=True)


@rule(on=Calc)
def merge_calcs(rel: Calc) -> Rel:
    """Two adjacent calcs become one; a calc that changes nothing is removed."""
    return merge_calc(rel, merges_python=True)

"""Filters and projections as calcs.  Sources: ``FilterToCalcRule``, ``ProjectToCalcRule``, ``FlinkCalcMergeRule``."""

from __future__ import annotations

from collections.abc import Iterable

from ...plan.rex import RexNode
from ..algebra.logical import Filter, Project, Rel
from ..algebra.physical import Calc
from ..rex.expressions import and_, are_identity, identity, inline, is_always_true
from ..rex.simplify import simplify_condition
from .projections import can_inline
from .rule import rule


@rule(on=(Filter, Project))
def to_calc(rel: Filter | Project) -> Rel:
    """A filter or projection as a calc, merged with a calc below it."""
    if isinstance(rel, Project):
        return calc(rel.input, rel.exprs, rel.names)
    return calc(rel.input, identity(rel.types), rel.given or rel.names, rel.condition)


@rule(on=Calc)
def merge_calcs(rel: Calc) -> Rel:
    """Two calcs in a row are one; a calc that changes nothing is none."""
    if isinstance(rel.input, Calc):
        below = rel.input
        above = [*rel.projection, *([rel.condition] if rel.condition else [])]
        if can_inline(above, below.projection):
            condition = None if rel.condition is None else inline(rel.condition, below.projection)
            rel = Calc(
                input=below.input,
                projection=tuple(inline(e, below.projection) for e in rel.projection),
                condition=_conjunction(below.condition, condition),
                names=rel.names,
                input_names=below.input_names,
            )
    return rel.input if is_trivial(rel) else rel


def _conjunction(first: RexNode | None, second: RexNode | None) -> RexNode | None:
    if first is None or second is None:
        return first or second
    found = simplify_condition(and_([first, second]))
    return None if is_always_true(found) else found


def is_trivial(rel: Calc) -> bool:
    """Whether a calc passes its rows on as they are, but for names."""
    return rel.condition is None and are_identity(rel.projection, rel.input.types)


def calc(rel: Rel, exprs: Iterable[RexNode], names: Iterable[str], condition: RexNode | None = None) -> Rel:
    """A calc over a relation, merged and dropped as may be."""
    return merge_calcs(Calc(input=rel, projection=tuple(exprs), condition=condition, names=tuple(names)))

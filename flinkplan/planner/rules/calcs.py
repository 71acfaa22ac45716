"""Filters and projections as calcs.  Sources: ``FilterToCalcRule``, ``ProjectToCalcRule``, ``FlinkCalcMergeRule``."""

from __future__ import annotations

from collections.abc import Iterable

from ...plan.rex import InputRef, RexNode
from ..algebra.logical import Filter, Project, Rel
from ..algebra.physical import Calc
from ..algebra.row_types import row_of
from ..rex.expressions import and_, identity, inline, is_always_true
from ..rex.simplify import simplify_condition
from .projections import can_inline


def to_calc(rel: Rel) -> Rel:
    """A filter or projection as a calc, merged with a calc below it."""
    if isinstance(rel, Filter):
        rel = Calc(
            input=rel.input, projection=identity(rel.input.types), condition=rel.condition, row_type=rel.row_type
        )
    elif isinstance(rel, Project):
        rel = Calc(input=rel.input, projection=rel.exprs, row_type=rel.row_type)
    return merge_calcs(rel)


def merge_calcs(rel: Rel) -> Rel:
    """Two calcs in a row are one; a calc that changes nothing is none."""
    if not isinstance(rel, Calc):
        return rel
    if isinstance(rel.input, Calc):
        below = rel.input
        above = [*rel.projection, *([rel.condition] if rel.condition else [])]
        if can_inline(above, below.projection):
            condition = None if rel.condition is None else inline(rel.condition, below.projection)
            rel = Calc(
                input=below.input,
                projection=tuple(inline(e, below.projection) for e in rel.projection),
                condition=_conjunction(below.condition, condition),
                row_type=rel.row_type,
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
    fields = rel.input.row_type.fields
    return (
        rel.condition is None
        and len(rel.projection) == len(fields)
        and all(
            isinstance(e, InputRef) and e.index == i and e.type == fields[i].type for i, e in enumerate(rel.projection)
        )
    )


def calc(rel: Rel, exprs: Iterable[RexNode], names: Iterable[str], condition: RexNode | None = None) -> Rel:
    """A calc over a relation, merged and dropped as may be."""
    exprs = tuple(exprs)
    row_type = row_of(names, (e.type for e in exprs))
    return merge_calcs(Calc(input=rel, projection=exprs, condition=condition, row_type=row_type))

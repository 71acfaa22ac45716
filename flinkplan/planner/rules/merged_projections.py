"""Removing and merging projections, and whose names columns then have.

Sources: ``ProjectRemoveRule``, ``FlinkProjectMergeRule``, ``RelBuilder.project``, ``FilterToCalcRule``.
"""

from __future__ import annotations

from ...plan.record import replace
from ..algebra.logical import Aggregate, Correlate, Filter, Project, SetOp
from ..algebra.rel import Rel
from ..rex.expressions import are_identity, can_inline, contains_over, inline
from ..rex.simplify import shorten
from .rule import rule


@rule(on=Filter, over=Aggregate)
def name_groups(rel: Filter, below: Aggregate) -> Rel:
    """A filter over an aggregation keeps the column names that it has before the projection below is removed.

    Source: ``FilterToCalcRule``, whose calc has the names of the filter as it was made.
    """
    return replace(rel, given=rel.names) if below.calls else rel


@rule(on=Filter, over=Project)
def forget_groups(rel: Filter, below: Project) -> Rel:
    """A filter over an aggregation that was none loses its column names with those of the projection that is left.

    Source: ``VolcanoPlanner``, which removes such a projection before it makes a calc of the filter.
    """
    return replace(rel, given=None) if rel.given and is_identity(below) else rel


@rule(on=(Correlate, Filter))
def drop_aliases(rel: Correlate | Filter) -> Rel:
    """Remove a projection that only renames a table function's columns.  Source: ``ProjectRemoveRule``.

    A filter over an aggregation of filtered or united rows was built anew, and so keeps no names either.
    """
    match rel:
        case Correlate():
            return replace(rel, aliases=None)
        case Filter(given=(_, *_), input=Aggregate(input=Filter() | SetOp())):
            return replace(rel, given=None)
    return rel


def computes_over(rel: Project) -> bool:
    """Whether a projection has OVER calls."""
    return any(map(contains_over, rel.exprs))


@rule(on=Project)
def remove_identity(rel: Project) -> Rel:
    """ProjectRemoveRule: an identity projection is removed, and its names with it."""
    return rel.input if is_identity(rel) else rel


@rule(on=Project)
def remove_identity_again(rel: Project) -> Rel:
    """The same where filters and the projections above them are calcs, whose names are those of the projections."""
    return rel.input if is_identity(rel) and not names_calc(rel) else rel


def names_calc(rel: Project) -> bool:
    """Whether a projection gives a filter, and so the calc that both become, other column names."""
    return isinstance(rel.input, Filter) and rel.names != (rel.input.given or rel.input.names)


def is_identity(rel: Project) -> bool:
    """Whether a projection is the identity, apart from names (ProjectRemoveRule)."""
    return are_identity(rel.exprs, rel.input.types)


@rule(on=Project, over=Project)
def merge_built_projects(rel: Project, below: Project) -> Rel:
    """Two adjacent projections become one, whose expressions are simplified.  Source: ``RelBuilder.project``."""
    if computes_over(rel) and computes_over(below):
        return rel
    if not can_inline(rel.exprs, below.exprs):
        return rel
    exprs = tuple([shorten(inline(e, below.exprs)) for e in rel.exprs])
    return replace(rel, input=below.input, exprs=exprs)


@rule(on=Project, over=Project)
def merge_projects(rel: Project, below: Project) -> Rel:
    """FlinkProjectMergeRule: two adjacent projections become one.

    Where that equals the lower one, this one stays, and with it its names.  Source: ``HepPlanner.addRelToGraph``.
    """
    merged = merge_built_projects(rel)
    same = isinstance(merged, Project) and merged.exprs == below.exprs and merged.input is below.input
    return below if same else merged


@rule(on=Project, over=Project)
def drop_equal_projects(rel: Project, below: Project) -> Rel:
    """A projection goes that, merged with the one below it, equals this one; others are merged from the top later."""
    return rel if is_identity(rel) or merge_projects(rel) is not below else below

"""Equal projections of a tree as one, whatever the names of their columns.  Source: ``HepPlanner.addRelToGraph``."""

from __future__ import annotations

from ...plan.record import replace
from ...plan.rex import RexNode
from ..algebra.logical import Filter, Project
from ..algebra.physical import OverAggregate
from ..algebra.rel import Rel
from ..algebra.tree import Pass, Rewrite, bottom_up, walk_once


def name_alike(root: Rel) -> Rel:
    """Projections that differ in column names only get the names of the first of them.

    Flink's planner keeps one of equal relations, and ignores the names of a projection when it compares.  A projection
    below another projection is not compared on its own.
    """
    by_expressions: dict[tuple[RexNode, ...], list[Project]] = {}

    def named(rel: Rel) -> Rel:
        if not isinstance(rel, Project):
            return rel
        alike = by_expressions.setdefault(rel.exprs, [])
        equal = next((other for other in alike if other.input == rel.input), None)
        if equal is None:
            alike.append(rel)
        return equal or rel

    def change(rel: Rel, visit: Rewrite) -> Rel:
        new = rel.over(visit)
        return new if isinstance(rel, Project) else new.over(named)

    return Pass(change).visit(root)


def name_filtered(root: Rel) -> Rel:
    """A projection of OVER calls that has come below a filter gets the names of an equal one that was there before."""
    if OverAggregate not in root.classes or Filter not in root.classes:
        return root
    unfiltered = [
        below
        for rel, _ in walk_once(root).values()
        if not isinstance(rel, Filter)
        for below in rel.inputs
        if isinstance(below, Project) and isinstance(below.input, OverAggregate)
    ]

    def change(rel: Rel) -> Rel:
        if not isinstance(rel, Filter) or not isinstance(rel.input, Project):
            return rel
        below = rel.input
        equal = next((p for p in unfiltered if p.exprs == below.exprs and p.input == below.input), below)
        return rel if equal.names == below.names else replace(rel, input=equal)

    return bottom_up(root, change) if unfiltered else root

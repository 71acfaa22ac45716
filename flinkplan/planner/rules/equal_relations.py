"""Equal projections of a tree as one, whatever the names of their columns.  Source: ``HepPlanner.addRelToGraph``."""

from __future__ import annotations

from ...plan.rex import RexNode
from ..algebra.logical import Project
from ..algebra.rel import Rel
from ..algebra.tree import Pass, Rewrite


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

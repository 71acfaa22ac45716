"""Equal projections of a tree as one, whatever they call their columns.  Source: ``HepPlanner.addRelToGraph``."""

from __future__ import annotations

from ...plan.rex import RexNode
from ..algebra.logical import Project, Rel
from ..algebra.tree import with_inputs


def name_alike(root: Rel) -> Rel:
    """Projections that differ in names alone have those of the first of them.

    Flink's planner keeps one of equal relations, and the names of a projection do not count there.  One that stands
    below another projection is a part of that.
    """
    found: dict[tuple[RexNode, ...], list[Project]] = {}

    def visit(rel: Rel) -> Rel:
        inputs = [visit(i) for i in rel.inputs]
        if not isinstance(rel, Project):
            inputs = [named(i) if isinstance(i, Project) else i for i in inputs]
        return with_inputs(rel, tuple(inputs))

    def named(rel: Project) -> Project:
        alike = found.setdefault(rel.exprs, [])
        equal = next((other for other in alike if other.input == rel.input), None)
        if equal is None:
            alike.append(rel)
        return equal or rel

    return visit(root)

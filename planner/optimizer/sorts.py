"""Moving limits below projections.  Source: ``SortProjectTransposeRule``."""

from __future__ import annotations

from dataclasses import replace

from ...plan.rex import InputRef
from ..algebra import Project, Rel, Sort
from .rexes import contains_over
from .tree import bottom_up


def push_sorts(rel: Rel) -> Rel:
    """A limit over a projection that computes something goes below it: fewer rows to compute."""
    return bottom_up(rel, _push)


def _push(rel: Rel) -> Rel:
    if not isinstance(rel, Sort) or not isinstance(rel.input, Project) or rel.fetch is None:
        return rel
    below = rel.input
    if any(contains_over(e) for e in below.exprs) or isinstance(below.input, (Sort,)):
        return rel
    order = []
    for f in rel.order:
        expr = below.exprs[f.index]
        if not isinstance(expr, InputRef):
            return rel
        order.append(replace(f, index=expr.index))
    inner = replace(rel, input=below.input, order=tuple(order), row_type=below.input.row_type)
    return replace(below, input=inner)

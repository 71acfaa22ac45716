"""Moving limits below projections.  Sources: ``SortProjectTransposeRule``, ``SqlCastFunction.getMonotonicity``."""

from __future__ import annotations

from ...plan.functions.cast import CAST
from ...plan.record import replace
from ...plan.rex import InputRef, Literal
from ...plan.types import CHARACTER, NUMERIC, LogicalType
from ..algebra.logical import Filter, Project, Sort
from ..algebra.rel import Rel
from ..metadata.estimates import Estimates
from ..rex.expressions import contains_over, is_call
from .merged_projections import is_identity, merge_projects
from .rule import rule


@rule(on=(Sort, Project))
def push_sorts(rel: Sort | Project) -> Rel:
    """Push a limit below a projection where fewer rows are computed then, or an operator is saved."""
    match rel:
        case Sort(input=Project() as below):
            pushed = _past_project(rel, below)
            estimates = Estimates()
            return rel if pushed is None or estimates.rows(rel) >= estimates.rows(below) else pushed
        case Project(input=Sort(input=Project() as below) as sort) if not is_identity(rel):
            pushed = _past_project(sort, below)
            return rel if pushed is None else merge_projects(replace(rel, input=pushed))
    return rel


def _past_project(rel: Sort, below: Project) -> Project | None:
    if any(contains_over(e) for e in below.exprs):
        return None
    if isinstance(below.input, Filter) and all(
        isinstance(e, (InputRef, Literal)) or is_call(e, CAST) for e in below.exprs
    ):
        return None  # the operator that filters chooses and casts columns at no cost: CommonCalc.computeSelfCost
    order = []
    for f in rel.order:
        expr = below.exprs[f.index]
        while is_call(expr, CAST) and _keeps_order(expr.operands[0].type, expr.type):
            expr = expr.operands[0]
        if not isinstance(expr, InputRef):
            return None
        order.append(replace(f, index=expr.index))
    inner = replace(rel, input=below.input, order=tuple(order))
    return replace(below, input=inner)


def _keeps_order(source: LogicalType, target: LogicalType) -> bool:
    """Whether a cast to another type keeps the order of values."""
    roots = (source.root, target.root)
    text = [root in CHARACTER for root in roots]
    if any(text):
        return all(text) or not any(root in NUMERIC for root in roots)
    return "TIME" not in roots or roots == ("TIME", "TIME")

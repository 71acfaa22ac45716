"""Moving limits below projections.  Sources: ``SortProjectTransposeRule``, ``SqlCastFunction.getMonotonicity``."""

from __future__ import annotations

from ...plan.record import replace
from ...plan.rex import InputRef, Literal
from ...plan.types import CHARACTER, NUMERIC, LogicalType
from ..algebra.logical import Filter, Project, Rel, Sort
from ..algebra.tree import bottom_up
from ..rex.expressions import CAST, contains_over, is_call


def push_sorts(rel: Rel) -> Rel:
    """A limit that cuts something off goes below a projection: fewer rows to compute."""
    return bottom_up(rel, _push)


def _push(rel: Rel) -> Rel:
    if not isinstance(rel, Sort) or not isinstance(rel.input, Project):
        return rel
    below = rel.input
    if any(contains_over(e) for e in below.exprs) or not _cuts(rel, below.input):
        return rel
    if isinstance(below.input, Filter) and all(isinstance(e, (InputRef, Literal)) for e in below.exprs):
        return rel  # the operator that filters chooses columns at no cost
    order = []
    for f in rel.order:
        expr = below.exprs[f.index]
        while is_call(expr, CAST) and _keeps_order(expr.operands[0].type, expr.type):
            expr = expr.operands[0]
        if not isinstance(expr, InputRef):
            return rel
        order.append(replace(f, index=expr.index))
    inner = replace(rel, input=below.input, order=tuple(order), row_type=below.input.row_type)
    return replace(below, input=inner)


def _cuts(rel: Sort, source: Rel) -> bool:
    """Whether a limit leaves out some of the rows of a relation, which may be limited itself."""
    known = source.fetch if isinstance(source, Sort) else None
    return bool(rel.offset) or (rel.fetch is not None and (known is None or rel.fetch < known))


def _keeps_order(source: LogicalType, target: LogicalType) -> bool:
    """Whether a cast to another type keeps the order of values."""
    roots = (source.root, target.root)
    text = [root in CHARACTER for root in roots]
    if any(text):
        return all(text) or not any(root in NUMERIC for root in roots)
    return "TIME" not in roots or roots == ("TIME", "TIME")

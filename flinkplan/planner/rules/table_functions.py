"""Conditions on the columns of a table function go into its correlate."""

from __future__ import annotations

from collections.abc import Mapping

from ...plan.record import replace
from ...plan.rex import InputRef, RexNode
from ...plan.specs import JoinType
from ..algebra.builders import filtered
from ..algebra.logical import Correlate, Filter, Join, Project, Values
from ..algebra.rel import Rel
from ..algebra.row_types import row_of
from ..algebra.tree import with_inputs
from ..rex.expressions import and_, conjunctions, inline, refs, shift
from ..rex.simplify import simplify_condition
from .reduce import constants
from .rule import rule


@rule(on=(Filter, Correlate))
def push_into_correlates(rel: Filter | Correlate) -> Rel:
    """Push conditions on a table function's columns into its correlate, before constants replace columns.

    Source: ``FilterCorrelateRule``.  Conditions on the outer row's columns are pushed later.
    """
    match rel:
        case Filter(input=Project() | Join() | Correlate()):
            below, taken = _sunk(rel.input, {p: p for p in conjunctions(rel.condition)})
            return filtered(below, [p for p in conjunctions(rel.condition) if p not in taken]) if taken else rel
        case Correlate():
            return _named(rel)
    return rel


def _sunk(rel: Rel, parts: Mapping[RexNode, RexNode]) -> tuple[Rel, set[RexNode]]:
    """The relation with the conditions that functions below it take, and these; each is given with what it is here."""
    taken: set[RexNode] = set()
    match rel:
        case Project(input=source, exprs=exprs):
            moved = {
                p: inline(q, exprs) for p, q in parts.items() if all(isinstance(exprs[i], InputRef) for i in refs(q))
            }
        case Correlate(type=JoinType.INNER, input=source) if source.types:
            width = source.width
            moved, own = _by_side(parts, width)
            if own:
                before = conjunctions(rel.condition) if rel.condition else []
                rel = _named(replace(rel, condition=simplify_condition(and_([*before, *own.values()]))))
                taken.update(own)
        case Join(type=JoinType.INNER, left=left):
            width = left.width
            sides = [_sunk(i, m) for i, m in zip(rel.inputs, _by_side(parts, width), strict=True)]
            return with_inputs(rel, tuple(new for new, _ in sides)), set().union(*(sunk for _, sunk in sides))
        case _:
            return rel, taken
    below, taken_below = _sunk(source, moved)
    return with_inputs(rel, (below,)), taken | taken_below


def _by_side(parts: Mapping[RexNode, RexNode], width: int) -> tuple[dict[RexNode, RexNode], dict[RexNode, RexNode]]:
    left = {p: q for p, q in parts.items() if max(refs(q), default=width) < width}
    return left, {p: shift(q, -width) for p, q in parts.items() if refs(q) and min(refs(q)) >= width}


def _named(rel: Correlate) -> Correlate:
    """A function of which the condition fixes a column: the projection that named its columns has become its own."""
    if rel.condition is None:
        return rel
    function = rel.function_type
    if not constants(Filter(input=Values(tuples=(), fields=function), condition=rel.condition)):
        return rel
    return replace(rel, function_type=row_of(rel.names[rel.input.width :], function.field_types))

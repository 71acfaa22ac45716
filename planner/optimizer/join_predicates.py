"""What a join condition implies for each input alone.  Source: ``JoinDependentConditionDerivationRule``."""

from __future__ import annotations

from dataclasses import replace

from ...plan.rex import RexNode
from ...plan.specs import JoinType
from ..algebra import Join, Rel
from .rexes import OR, and_, conjunctions, flatten, is_call, or_, refs
from .simplify import simplify


def derive_join_predicates(rel: Rel) -> Rel:
    """``(l.a = 1 AND r.b = 2) OR (l.a = 3 AND r.b = 4)`` implies ``l.a IN (1, 3)`` and ``r.b IN (2, 4)``."""
    if not isinstance(rel, Join) or rel.type is not JoinType.INNER:
        return rel
    width = len(rel.left.row_type.fields)
    parts = conjunctions(rel.condition)
    derived: list[RexNode] = []
    for part in parts:
        if not is_call(part, OR):
            continue
        branches = [conjunctions(b) for b in flatten(OR, part)]
        for on_left in (True, False):
            own = [[c for c in b if _of_side(c, width, on_left)] for b in branches]
            if all(own):
                derived.append(simplify(or_(and_(b) for b in own)))
    new = [d for d in derived if d not in parts]
    return replace(rel, condition=and_([*parts, *new])) if new else rel


def _of_side(rex: RexNode, width: int, on_left: bool) -> bool:
    read = refs(rex)
    return bool(read) and (max(read) < width if on_left else min(read) >= width)

"""Equality tests of one expression with several values as one SEARCH.  Source: ``ConvertToNotInOrInRule``."""

from __future__ import annotations

from collections.abc import Sequence

from ...plan.functions import Function
from ...plan.functions.comparison import AND, EQ, NE, OR
from ...plan.functions.typing import family_of
from ...plan.record import replace
from ...plan.rex import Call, Literal, RexNode
from ...plan.types import APPROXIMATE
from ..algebra.logical import Filter
from ..algebra.rel import Rel
from ..algebra.scala_maps import listed_mutable, text_code
from ..rex import sargs
from ..rex.expressions import and_, compare, flatten, is_call, not_, or_
from ..rex.printer import condition_digest
from .rule import rule

_JUNCTIONS = {OR: or_, AND: and_}
_OTHER = {OR: AND, AND: OR}
_EQUATED = {OR: EQ, AND: NE}
_SHORTEST = 4
"""The least number of values of a list.  Source: ``ConvertToNotInOrInRule.THRESHOLD``."""


@rule(on=Filter)
def gather_lists(rel: Filter) -> Rel:
    """``x = 1 OR x = 2 OR …`` of four values or more as ``x IN (1, 2, …)``, ``x <> 1 AND …`` as NOT IN."""
    names = [f"${i}" for i in range(rel.width)]
    listed = _gathered(OR, rel.condition, names) or rel.condition
    gathered = _gathered(AND, listed, names) or listed
    return rel if gathered is rel.condition else replace(rel, condition=gathered)


def _gathered(junction: Function, rex: RexNode, names: Sequence[str]) -> RexNode | None:
    """The condition with equality tests gathered to SEARCH; ``None`` where no list is long enough.

    What is no such equality comes first, then the equalities as a hash map of Scala's has them.
    """
    terms = flatten(junction, rex)
    if len(terms) < _SHORTEST and not any(is_call(term, _OTHER[junction]) for term in terms):
        return None
    others: list[RexNode] = []
    by_operand: dict[str, list[tuple[RexNode, Literal, Call]]] = {}
    is_changed = False
    for term in terms:
        equality = _equality(term, _EQUATED[junction])
        if equality is not None:
            by_operand.setdefault(condition_digest(equality[0], names), []).append(equality)
        elif is_call(term, _OTHER[junction]):
            parts = [(_gathered(junction, part, names), part) for part in flatten(_OTHER[junction], term)]
            is_changed |= any(new is not None for new, _ in parts)
            others.append(_JUNCTIONS[_OTHER[junction]](new or part for new, part in parts))
        else:
            others.append(term)
    for text in listed_mutable(by_operand, text_code):
        equalities = by_operand[text]
        operand = equalities[0][0]
        if len(equalities) < (20 if operand.type.root in APPROXIMATE else _SHORTEST):
            others.append(_JUNCTIONS[junction](call for *_, call in equalities))
            continue
        is_changed = True
        listed = _list(operand, [literal for _, literal, _ in equalities])
        others.append(listed if junction is OR else not_(listed))
    return _JUNCTIONS[junction](others) if is_changed else None


def _equality(rex: RexNode, operator: Function) -> tuple[RexNode, Literal, Call] | None:
    """The compared operand, the literal, and the comparison with the literal on the right."""
    if not is_call(rex, operator):
        return None
    left, right = rex.operands
    if isinstance(right, Literal):
        return left, right, rex
    return (right, left, replace(rex, operands=(right, left))) if isinstance(left, Literal) else None


def _list(operand: RexNode, literals: Sequence[Literal]) -> RexNode:
    """``RexBuilder.makeIn``: a search where the types are of one family, else comparisons."""
    comparisons = [compare(EQ, operand, literal) for literal in literals]
    if any(literal.value is None or family_of(operand.type) != family_of(literal.type) for literal in literals):
        return or_(comparisons)
    searches = [search for c in comparisons if (search := sargs.read(c)) is not None]
    return sargs.write(sargs.combined(searches, sargs.unite))

"""Equivalent forms of conditions: common factors, conjunctive normal form."""

from __future__ import annotations

from itertools import product
from math import prod

from ...plan.functions.comparison import AND, OR
from ...plan.rex import RexNode, children
from .expressions import and_, flatten, is_call, or_


def pull_factors(rex: RexNode) -> RexNode:
    """``(a AND b) OR (a AND c)`` as ``a AND (b OR c)``.  Source: ``RexUtil.pullFactors``."""
    if is_call(rex, AND):
        return and_(map(pull_factors, flatten(AND, rex)))
    terms = [flatten(AND, term) for term in flatten(OR, rex)]
    common = [part for part in terms[0] if all(part in term for term in terms)]
    if len(terms) < 2 or not common:
        return rex
    return and_([*common, or_(and_(part for part in term if part not in common) for term in terms)])


def to_cnf(rex: RexNode) -> RexNode:
    """Conjunctive normal form, unless that more than doubles the expression.  Source: ``FlinkRexUtil.toCnf``."""
    limit = 2 * count_nodes(rex)
    try:
        parts = _cnf(rex, limit)
    except _TooLong:
        return rex
    return rex if sum(map(count_nodes, parts)) + 1 > limit else and_(parts)


class _TooLong(Exception):
    pass


def count_nodes(rex: RexNode) -> int:
    """How many nodes an expression has."""
    return 1 + sum(map(count_nodes, children(rex)))


def _cnf(rex: RexNode, limit: int) -> list[RexNode]:
    """The terms of the normal form.  Raises :class:`_TooLong` where they are more than ``limit``."""
    if is_call(rex, AND):
        return [p for o in flatten(AND, rex) for p in _cnf(o, limit)]
    if not is_call(rex, OR):
        return [rex]
    terms = [_cnf(o, limit) for o in flatten(OR, rex)]
    if prod(map(len, terms)) > limit:
        raise _TooLong
    return [or_(chosen) for chosen in product(*terms)]

"""Flink's default selectivity of conditions, without statistics.

Sources: ``SelectivityEstimator`` without statistics, ``RelMdUtil.guessSelectivity``.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from math import prod

from ...plan.functions import Function, called
from ...plan.functions.comparison import AND, EQ, GE, GT, IS_NOT_NULL, IS_NULL, LE, LIKE, LT, NE, NOT, OR, SEARCH
from ...plan.record import cached_on_record
from ...plan.rex import Call, InputRef, RexNode
from ..rex.expressions import flatten, is_always_false, is_always_true, is_call
from ..rex.sargs import comparison, expand

_SHARES: dict[Function | None, float] = {
    **{EQ: 0.15, NE: 0.85, LIKE: 0.05},
    **dict.fromkeys((LT, LE, GT, GE), 0.5),
    **{IS_NULL: 0.1, IS_NOT_NULL: 0.9},
}
OF_OTHERS = 0.25
"""The share for conditions of which nothing is known."""


@cached_on_record
def selectivity(condition: RexNode) -> float:
    """The share, from 0 to 1."""
    if is_always_true(condition):
        return 1.0
    if is_always_false(condition):
        return 0.0
    if type(condition) is InputRef:
        return _SHARES[EQ]
    if type(condition) is not Call:
        return OF_OTHERS
    function = called(condition)
    if function is SEARCH:
        return selectivity(expand(condition))
    if function is AND:
        return prod(selectivity(part) for part in flatten(AND, condition))
    if function is OR:
        return _disjunction_selectivity(flatten(OR, condition))
    if function is NOT:
        return 1.0 - selectivity(condition.operands[0])
    return _SHARES.get(function, OF_OTHERS)


def _disjunction_selectivity(parts: tuple[RexNode, ...]) -> float:
    """Comparisons of one column exclude each other, other conditions overlap."""
    columns = [str(i) if (c := _compared_column(part)) is None else c for i, part in enumerate(parts)]
    numbered = sorted(zip(columns, map(selectivity, parts), strict=True))
    groups = [min(1.0, sum(share for _, share in same)) for _, same in groupby(numbered, key=lambda each: each[0])]
    return groups[0] if len(groups) == 1 else min(1.0, sum(groups) - prod(groups))


def _compared_column(rex: RexNode) -> str | None:
    """A name of the column that is compared with a literal, if there is one."""
    compared = None if is_call(rex, NE) else comparison(rex)
    return f"${compared[1].index}" if compared and isinstance(compared[1], InputRef) else None


def guessed_selectivity(parts: Iterable[RexNode]) -> float:
    """The share for conditions of joins, for which Flink guesses more roughly."""
    return prod(_GUESSES.get(called(part), OF_OTHERS) for part in parts)


_GUESSES: dict[Function | None, float] = {
    **{IS_NOT_NULL: 0.9, EQ: 0.15},
    **dict.fromkeys((NE, LT, LE, GT, GE), 0.5),
}

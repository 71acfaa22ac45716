"""The share of rows that meet a condition, as Flink estimates it without statistics.

Sources: ``SelectivityEstimator``, ``RelMdUtil.guessSelectivity``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from typing import TypeAlias

from ...plan.functions import Function, called
from ...plan.functions.comparison import AND, EQ, GE, GT, IS_NOT_NULL, IS_NULL, LE, LIKE, LT, NE, NOT, OR, SEARCH
from ...plan.record import cached_on_record
from ...plan.rex import Call, FieldAccess, InputRef, Literal, RexNode
from ..rex.expressions import conjunctions, flatten, is_always_false, is_always_true, is_call
from ..rex.normal_forms import to_cnf
from ..rex.sargs import comparison, expand, read

_SHARES: dict[Function | None, float] = {
    **{EQ: 0.15, NE: 0.85, LIKE: 0.05},
    **dict.fromkeys((LT, LE, GT, GE), 0.5),
    **{IS_NULL: 0.1, IS_NOT_NULL: 0.9},
}
OF_OTHERS = 0.25
"""The share for conditions of which nothing is known."""

DistinctValues: TypeAlias = Callable[[int], float | None]
"""The number of distinct values of a column; ``None`` where it is unknown."""


def guessed_selectivity(parts: Iterable[RexNode]) -> float:
    """The share for the parts of a condition on rows of which nothing is known."""
    return prod(_GUESSES.get(called(part), OF_OTHERS) for part in parts)


_GUESSES: dict[Function | None, float] = {
    **{IS_NOT_NULL: 0.9, EQ: 0.15},
    **dict.fromkeys((NE, LT, LE, GT, GE), 0.5),
}


@cached_on_record
def selectivity(condition: RexNode) -> float:
    """The share, from 0 to 1, where no column is known to be unique."""
    return estimated_selectivity(condition, lambda _: None)


def estimated_selectivity(condition: RexNode, distinct: DistinctValues) -> float:
    """The share, from 0 to 1; where a part of the condition cannot be estimated, all of it is guessed."""
    if is_always_true(condition):
        return 1.0
    if is_always_false(condition):
        return 0.0
    if isinstance(condition, (FieldAccess, Literal)):
        return OF_OTHERS
    try:
        return _share(condition, distinct)
    except _NotEstimatedError:
        return guessed_selectivity(conjunctions(condition))


class _NotEstimatedError(Exception):
    """Flink's estimator fails at a part of the condition."""


def _share(rex: RexNode, distinct: DistinctValues) -> float:
    if type(rex) is InputRef:
        return _SHARES[EQ]
    if not isinstance(rex, Call):
        return 1.0
    if is_call(rex, SEARCH):
        searched = read(rex)
        if searched is not None and searched.ranges and searched.is_points:
            return _share_of_list(searched.operand, len(searched.ranges), distinct)
        return _share(expand(rex), distinct)
    if is_call(rex, AND):
        return prod(_share(part, distinct) for part in conjunctions(to_cnf(rex)) if isinstance(part, Call))
    if is_call(rex, OR):
        return _share_of_any(flatten(OR, rex), distinct)
    if is_call(rex, NOT):
        return 1.0 - _share(rex.operands[0], distinct)
    if is_call(rex, IS_NULL, IS_NOT_NULL):
        _check_is_column(rex.operands[0])
    return _SHARES.get(called(rex), OF_OTHERS)


def _check_is_column(rex: RexNode) -> None:
    """Raise the error of Flink's estimator where it asks for the values of what is no column."""
    if not isinstance(rex, InputRef):
        raise _NotEstimatedError


def _share_of_list(operand: RexNode, length: int, distinct: DistinctValues) -> float:
    """The share of rows whose column has one of so many values."""
    _check_is_column(operand)
    assert isinstance(operand, InputRef)
    values = distinct(operand.index)
    return min(1.0, _SHARES[EQ] * length) if values is None else length / values


def _share_of_any(parts: Sequence[RexNode], distinct: DistinctValues) -> float:
    """The share for which any of the conditions holds: of one column they exclude each other, others overlap."""
    compared: defaultdict[int, list[RexNode]] = defaultdict(list)
    others: list[float] = []
    for part in parts:
        found = None if is_call(part, NE, SEARCH) else comparison(part)
        if found is not None and isinstance(found[1], InputRef):
            compared[found[1].index].append(part)
        elif isinstance(part, Call):
            others.append(_share(part, distinct))
    groups = [share for of_column in compared.values() for share in _shares_of_column(of_column, distinct)] + others
    return groups[0] if len(groups) == 1 else min(1.0, sum(groups) - prod(groups))


def _shares_of_column(parts: Sequence[RexNode], distinct: DistinctValues) -> Iterator[float]:
    """The share of several values of a column, which are a list, and that of what else it is compared with."""
    values = [part for part in parts if is_call(part, EQ)]
    if len(values) > 1:
        found = comparison(values[0])
        assert found is not None
        yield _share_of_list(found[1], len(values), distinct)
        parts = [part for part in parts if part not in values]
    if parts:
        yield min(1.0, sum(_share(part, distinct) for part in parts))

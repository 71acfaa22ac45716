"""The share of groups for which conditions on the results of an aggregation hold, as Flink estimates it.

Source: ``AggCallSelectivityEstimator``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod
from typing import TypeAlias

from ...plan.functions import Function
from ...plan.functions.aggregate import COUNT
from ...plan.functions.comparison import AND, EQ, GE, GT, LE, NE, OR, SEARCH
from ...plan.rex import InputRef, RexNode
from ..algebra.calls import is_call_of
from ..algebra.logical import Aggregate
from ..algebra.rel import Rel
from ..rex.expressions import is_call
from ..rex.sargs import comparison
from .selectivity import OF_OTHERS, selectivity

Rows: TypeAlias = Callable[[Rel], float]
"""The estimated number of rows of a relation."""


def call_selectivity(rel: Aggregate, parts: Iterable[RexNode], rows: Rows) -> float:
    """The share of groups for which conditions on the calls of an aggregation hold.

    Source: ``AggCallSelectivityEstimator``, of whose intervals only that of COUNT is known without statistics.
    """
    return prod(_one_call_selectivity(rel, part, rows) for part in parts)


def _one_call_selectivity(rel: Aggregate, part: RexNode, rows: Rows) -> float:
    if is_call(part, OR):
        shares = [_one_call_selectivity(rel, p, rows) for p in part.operands]
        return min(1.0, sum(shares) - prod(shares))
    if is_call(part, AND):
        return prod(_one_call_selectivity(rel, p, rows) for p in part.operands)
    compared = None if is_call(part, SEARCH) else comparison(part)
    if compared is None:
        return OF_OTHERS if is_call(part, SEARCH) else selectivity(part)
    operator, column, value = compared
    place = column.index - len(rel.grouping) if isinstance(column, InputRef) else -1
    if place < 0 or not is_call_of(rel.calls[place], COUNT) or len(rel.calls[place].arg_list) != 1:
        return selectivity(part)
    average = rows(rel.input) / rows(rel)
    lower, upper = max(average / 2, 1.0), 2 * average
    return _share_of_range(operator, lower, upper, float(value.value)) if lower < upper else selectivity(part)


def _share_of_range(operator: Function, lower: float, upper: float, bound: float) -> float:
    """The share of the numbers from ``lower`` to ``upper`` that compare so with a bound; none and all do not occur."""
    if operator in (EQ, NE):
        share = max(_LEAST_SHARE, 1.0 / (upper - lower)) if lower <= bound <= upper else _LEAST_SHARE
        return share if operator is EQ else 1.0 - share
    if operator in (GT, GE):
        none, every, share = upper <= bound, lower > bound, (upper - bound) / (upper - lower)
        none, every = (upper < bound, lower >= bound) if operator is GE else (none, every)
    else:
        none, every, share = lower >= bound, upper < bound, (bound - lower) / (upper - lower)
        none, every = (lower > bound, upper <= bound) if operator is LE else (none, every)
    return _LEAST_SHARE if none else 1.0 - _LEAST_SHARE if every else share


_LEAST_SHARE = 0.01

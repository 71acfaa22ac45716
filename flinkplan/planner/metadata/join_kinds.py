"""The parts of a join condition: equi-join keys and time bounds.

Sources: Calcite's ``JoinInfo``, ``IntervalJoinUtil``.
"""

from __future__ import annotations

from ...plan.functions import called
from ...plan.functions.arithmetic import DATETIME_MINUS, DATETIME_PLUS, MINUS, PLUS
from ...plan.functions.cast import CAST
from ...plan.functions.comparison import AND, EQ, GE, GT, IS_NOT_DISTINCT_FROM, IS_NULL, LE, LT, OR
from ...plan.record import Record, cached_on_record
from ...plan.rex import InputRef, Literal, RexNode, children
from ...plan.specs import JoinSpec, JoinType, WindowBounds
from ...plan.types import BOOLEAN, LogicalType
from ..algebra.logical import Join, Snapshot
from ..rex.expressions import MIRRORED, conjunctions, is_call, test


class JoinKeys(Record):
    """The equi-join keys of a join, and the rest of its condition."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    filter_nulls: tuple[bool, ...]
    rest: tuple[RexNode, ...]

    def spec(self, kind: JoinType) -> JoinSpec:
        """The keys as the plan's join spec."""
        condition = _together(self.rest)
        return JoinSpec(kind, self.left, self.right, self.filter_nulls, condition)


def _together(parts: tuple[RexNode, ...]) -> RexNode | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    return AND.typed(BOOLEAN.with_nullability(any(p.type.nullable for p in parts)), *parts)


@cached_on_record
def join_keys(condition: RexNode, width: int) -> JoinKeys:
    """The keys of a condition; the left input has ``width`` columns."""
    left, right, nulls, rest = [], [], [], []
    for part in conjunctions(condition):
        pair = _equal_columns(part, width)
        if pair is None:
            rest.append(part)
        else:
            left.append(pair[0])
            right.append(pair[1])
            nulls.append(is_call(part, EQ))
    return JoinKeys(tuple(left), tuple(right), tuple(nulls), tuple(rest))


def null_safe_equality(rex: RexNode) -> RexNode | None:
    """``a = b OR (a IS NULL AND b IS NULL)``, in any order, as IS NOT DISTINCT FROM."""
    if not is_call(rex, OR) or len(children(rex)) != 2:
        return None
    equal, both = sorted(children(rex), key=lambda term: is_call(term, AND))
    if not is_call(equal, EQ) or not is_call(both, AND):
        return None
    a, b = children(equal)
    if set(children(both)) != {test(IS_NULL, a), test(IS_NULL, b)}:
        return None
    return IS_NOT_DISTINCT_FROM.call(a, b)


def _equal_columns(rex: RexNode, width: int) -> tuple[int, int] | None:
    rex = null_safe_equality(rex) or rex
    if not is_call(rex, EQ, IS_NOT_DISTINCT_FROM):
        return None
    a, b = rex.operands
    if not isinstance(a, InputRef) or not isinstance(b, InputRef):
        return None
    if a.index > b.index:
        a, b = b, a
    return (a.index, b.index - width) if a.index < width <= b.index else None


# ---------------------------------------------------------------- time bounds


def interval_bounds(
    condition: RexNode, types: tuple[LogicalType, ...], width: int
) -> tuple[WindowBounds | None, tuple[RexNode, ...]]:
    """The time bounds of an interval join's condition, and the other parts; bounds are ``None`` if there are none."""
    lower: int | None = None
    upper: int | None = None
    indexes: tuple[int, int] | None = None
    rest: list[RexNode] = []
    for part in conjunctions(condition):
        time_bounds = _time_comparison(part, types, width)
        if time_bounds is None or (indexes is not None and time_bounds[0] != indexes):
            rest.append(part)
            continue
        indexes, low, high = time_bounds
        lower = low if lower is None else lower if low is None else max(lower, low)
        upper = high if upper is None else upper if high is None else min(upper, high)
    if indexes is None or lower is None or upper is None:
        return None, conjunctions(condition)
    left, right = indexes
    return WindowBounds(types[left].is_rowtime, lower, upper, left, right - width), tuple(rest)


def _time_comparison(
    rex: RexNode, types: tuple[LogicalType, ...], width: int
) -> tuple[tuple[int, int], int | None, int | None] | None:
    """(the two time columns, lower bound, upper bound) of left − right."""
    if not is_call(rex, EQ, LT, LE, GT, GE):
        return None
    a, b = (_time_term(o, types) for o in rex.operands)
    if a is None or b is None or (a[0] < width) == (b[0] < width):
        return None
    operator = called(rex)
    if a[0] >= width:
        a, b, operator = b, a, MIRRORED[operator]
    distance = b[1] - a[1]
    low = None if operator in (LT, LE) else distance + (operator is GT)
    high = None if operator in (GT, GE) else distance - (operator is LT)
    return (a[0], b[0]), low, high


def _time_term(rex: RexNode, types: tuple[LogicalType, ...]) -> tuple[int, int] | None:
    """A time column and the milliseconds that are added to it."""
    if isinstance(rex, InputRef):
        return (rex.index, 0) if types[rex.index].is_time_attribute else None
    if is_call(rex, CAST):
        return _time_term(rex.operands[0], types)
    if not is_call(rex, PLUS, DATETIME_PLUS, MINUS, DATETIME_MINUS):
        return None
    left, right = rex.operands
    is_sum = is_call(rex, PLUS, DATETIME_PLUS)
    if is_sum and isinstance(left, Literal):
        left, right = right, left
    base = _time_term(left, types)
    if base is None or not isinstance(right, Literal) or not right.type.root.startswith("INTERVAL"):
        return None
    amount = int(right.value)
    return base[0], base[1] + (amount if is_sum else -amount)


def is_lookup(rel: Join) -> bool:
    """Whether the join is a lookup join."""
    return isinstance(rel.right, Snapshot) and rel.right.lookup is not None

"""Predicates on periods: ``(start, end) OVERLAPS (start, length)`` and its like.

Source: ``convertOverlaps`` of Calcite's ``StandardConvertletTable``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...plan.functions import comparison
from ...plan.functions.typing import is_interval
from ...plan.rex import RexNode
from ..rex.builder import compare_coerced, conjunction
from ..rex.expressions import case
from ..sql import ast
from .errors import BindError
from .expressions import ExpressionBinder

Period = tuple[RexNode, RexNode]
"""The earlier end and the later one."""

Plus = Callable[[RexNode, RexNode], RexNode]

_AT_LEAST, _AT_MOST, _EQUAL = comparison.GE, comparison.LE, comparison.EQ

_TESTS: dict[str, Callable[[Period, Period], Sequence[RexNode]]] = {
    "OVERLAPS": lambda a, b: (compare_coerced(_AT_LEAST, a[1], b[0]), compare_coerced(_AT_LEAST, b[1], a[0])),
    "CONTAINS": lambda a, b: (compare_coerced(_AT_MOST, a[0], b[0]), compare_coerced(_AT_LEAST, a[1], b[1])),
    "EQUALS": lambda a, b: (compare_coerced(_EQUAL, a[0], b[0]), compare_coerced(_EQUAL, a[1], b[1])),
    "PRECEDES": lambda a, b: (compare_coerced(_AT_MOST, a[1], b[0]),),
    "IMMEDIATELY PRECEDES": lambda a, b: (compare_coerced(_EQUAL, a[1], b[0]),),
    "SUCCEEDS": lambda a, b: (compare_coerced(_AT_LEAST, a[0], b[1]),),
    "IMMEDIATELY SUCCEEDS": lambda a, b: (compare_coerced(_EQUAL, a[0], b[1]),),
}

PERIOD_OPERATORS = frozenset(_TESTS)
"""The operators that compare periods."""


def compare_periods(binder: ExpressionBinder, node: ast.Binary, plus: Plus) -> RexNode:
    """What an operator on periods comes to.  Raises :class:`BindError` where an operand is no period."""
    left, right = _period(binder, node.left, plus), _period(binder, node.right, plus)
    return conjunction(list(_TESTS[node.operator](left, right)))


def _period(binder: ExpressionBinder, node: ast.Expression, plus: Plus) -> Period:
    """A period's ends, the earlier one first; an interval for the second counts from the first."""
    if not isinstance(node, ast.RowConstructor) or len(node.items) != 2:
        raise BindError("a period has two ends, as in (TIME '10:00:00', INTERVAL '1' HOUR)", node.span)
    first, second = map(binder.bind, node.items)
    if is_interval(second.type):
        second = plus(first, second)
    ascends = compare_coerced(_AT_MOST, first, second)
    t = first.type.with_nullability(first.type.nullable or second.type.nullable)
    return case([ascends, first, second], t), case([ascends, second, first], t)

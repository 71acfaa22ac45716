"""Whether conditions reject NULL.  Source: Calcite's ``Strong``."""

from __future__ import annotations

from collections.abc import Callable

from ...plan.functions.arithmetic import DIVIDE_INTEGER
from ...plan.functions.collection import ITEM
from ...plan.functions.comparison import AND, IS_NOT_NULL, IS_TRUE, OR, SEARCH
from ...plan.functions.conditional import CASE
from ...plan.rex import Literal, RexNode, children
from .expressions import flatten, is_call, is_strict

_NULL_OF_NULL = (ITEM, DIVIDE_INTEGER)
"""Functions that are NULL where an operand is, and elsewhere, too."""


def rejects_null(rex: RexNode, is_null: Callable[[RexNode], bool]) -> bool:
    """Whether a condition is not TRUE where everything of which ``is_null`` says so is NULL."""
    if is_call(rex, AND):
        return any(rejects_null(p, is_null) for p in flatten(AND, rex))
    if is_call(rex, OR):
        return all(rejects_null(p, is_null) for p in flatten(OR, rex))
    if is_call(rex, IS_NOT_NULL, IS_TRUE):
        return is_null_where(children(rex)[0], is_null)
    return is_null_where(rex, is_null)


def is_null_where(rex: RexNode, is_null: Callable[[RexNode], bool]) -> bool:
    """Whether an expression is NULL where everything of which ``is_null`` says so is NULL."""
    if is_null(rex):
        return True
    if is_call(rex, SEARCH):
        return False
    if is_strict(rex) or is_call(rex, *_NULL_OF_NULL):
        return any(is_null_where(o, is_null) for o in children(rex))
    if is_call(rex, AND, OR):
        return all(is_null_where(o, is_null) for o in children(rex))
    if is_call(rex, CASE):
        return all(is_null_where(o, is_null) for o in (*children(rex)[1:-1:2], children(rex)[-1]))
    return isinstance(rex, Literal) and rex.value is None

"""Comparisons of CASE as boolean conditions.

Sources: ``ReduceExpressionsRule``'s ``CaseShuttle``, ``RexSimplify.simplifyBooleanCase``.
"""

from __future__ import annotations

from ...plan.functions import called
from ...plan.functions.cast import CAST
from ...plan.functions.comparison import AND, EQ, IS_TRUE, OR, SEARCH
from ...plan.functions.conditional import CASE
from ...plan.record import replace
from ...plan.rex import Call, FieldAccess, InputRef, Literal, RexNode, Sarg, callees, children
from ...plan.types import BINARY_STRING, CHARACTER, DATETIME, INTEGERS, NUMERIC, TIMESTAMPS, LogicalType
from . import sargs
from .expressions import and_, case, is_always_true, is_call, not_, or_, refs, rewrite, test


def push_into_cases(rex: RexNode) -> RexNode:
    """``CASE WHEN a THEN b ELSE c END = d`` as ``CASE WHEN a THEN b = d ELSE c = d END``, wherever it stands."""
    return rewrite(rex, _push) if CASE.key in callees(rex) else rex


def _push(rex: RexNode) -> RexNode:
    if type(rex) is not Call or rex.type.root != "BOOLEAN" or is_call(rex, CASE, AND, OR):
        return rex
    at = [i for i, o in enumerate(rex.operands) if is_call(o, CASE)]
    if not at or (is_call(rex, EQ) and _compares_inputs(rex)):
        return rex
    *branches, otherwise = children(rex.operands[at[-1]])

    def about(value: RexNode) -> RexNode:
        operands = (*rex.operands[: at[-1]], value, *rex.operands[at[-1] + 1 :])
        if all(isinstance(o, Literal) and o.value is not None for o in operands):
            return replace(rex, operands=operands, type=rex.type.not_null())
        pushed = _push(replace(rex, operands=operands))
        return sargs.fold(pushed) if is_call(pushed, SEARCH) else pushed

    operands = [o if i % 2 == 0 else about(o) for i, o in enumerate(branches)]
    return case((*operands, about(otherwise)), rex.type)


def _compares_inputs(rex: Call) -> bool:
    """Whether the operands read different columns, so that the equality may be a join key."""
    left, right = map(refs, rex.operands)
    return bool(left) and bool(right) and left.isdisjoint(right)


def boolean_case(rex: Call) -> RexNode:
    """``CASE WHEN a THEN b ELSE c END`` as ``(a AND b) OR (c AND NOT a)``, where evaluating all of it is safe."""
    *branches, otherwise = rex.operands
    conditions, values = branches[::2], [*branches[1::2], otherwise]
    if not all(map(is_safe, (*conditions[1:], *values))):
        return rex
    decided = all(isinstance(v, Literal) and v.value is not None for v in values)
    terms: list[RexNode] = []
    before: list[RexNode] = []
    for condition, value in zip([*map(_is_true, conditions), None], values, strict=True):
        used = not (isinstance(value, Literal) and value.value is False)
        if used:
            own = [part for part in (condition, value) if part is not None and not is_always_true(part)]
            terms.append(and_([*own, *map(not_, before)]))
        if condition is not None and not (decided and used):
            before.append(condition)
    return or_(terms)


def _is_true(rex: RexNode) -> RexNode:
    return test(IS_TRUE, rex) if rex.type.nullable else rex


def is_safe(rex: RexNode) -> bool:
    """Whether the expression cannot fail when it is evaluated for rows for which CASE would skip it."""
    if isinstance(rex, (InputRef, Literal, FieldAccess, Sarg)):
        return True
    function = called(rex)
    safe = is_lossless(children(rex)[0].type, rex.type) if function is CAST else bool(function and function.safe)
    return safe and all(map(is_safe, children(rex)))


def is_lossless(source: LogicalType, target: LogicalType) -> bool:
    """Whether a cast keeps every value.  Source: ``RexUtil.isLosslessCast``."""
    if source.root in INTEGERS and target.root in INTEGERS:
        return INTEGERS.index(source.root) <= INTEGERS.index(target.root)
    if source.root in CHARACTER and target.root in CHARACTER:
        return (source.root, target.root) != ("VARCHAR", "CHAR") and (source.length or 0) <= (target.length or 0)
    if source.root in _DIGITS and target.root in CHARACTER:
        return _digits(source) <= (target.length or 0)
    return source.nullable_() == target.nullable_()


def is_direct(source: LogicalType, target: LogicalType) -> bool:
    """Whether two casts, the inner one lossless, can be one cast.  Source: ``SqlTypeCoercionRule``."""
    return target.root == source.root or target.root in _DIRECT.get(source.root, ())


_DIRECT = {
    **dict.fromkeys(NUMERIC, (*NUMERIC, *CHARACTER, *TIMESTAMPS)),
    **dict.fromkeys(CHARACTER, (*NUMERIC, *CHARACTER, *DATETIME, *BINARY_STRING, "BOOLEAN")),
    **dict.fromkeys(BINARY_STRING, (*BINARY_STRING, *CHARACTER)),
    **dict.fromkeys(("DATE", "TIME"), (*TIMESTAMPS, *CHARACTER, *BINARY_STRING)),
    **dict.fromkeys(TIMESTAMPS, (*DATETIME, *CHARACTER, *BINARY_STRING, *NUMERIC)),
    "BOOLEAN": (*CHARACTER, *NUMERIC),
}

_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19, "FLOAT": 7, "DOUBLE": 15, "DECIMAL": 0}


def _digits(t: LogicalType) -> int:
    """The greatest length of a number's text: its digits, sign and decimal point."""
    if t.root != "DECIMAL":
        return _DIGITS[t.root] + 1
    return (t.precision or 0) + 1 + (t.scale + 1 if t.scale else 0)

"""Expressions as Calcite's trees print them: columns by number, operators as calls, casts with their type behind.

Source: ``RexCall.computeDigest``, ``RexOver``, ``RexSubQuery``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...plan.functions import Style, called
from ...plan.rex import Call, FieldAccess, InputRef, Literal, RexNode, Sarg, shown_name
from .printer import call_digest, condition_digest, expression, full_type_name, operator_name, quoted, typed_literal
from .unplanned import Frame, Over, SubQuery, SubQueryKind

Tree = Callable[[Any], Iterable[str]]
"""The lines of a subquery's relation."""


def numbered(rex: RexNode, tree: Tree) -> str:
    """An expression over columns ``$0``, ``$1``, …; ``tree`` prints the relations of subqueries."""

    def text(operand: RexNode) -> str:
        return numbered(operand, tree)

    match rex:
        case InputRef(index):
            return f"${index}"
        case FieldAccess(name, expr):
            return f"{text(expr)}.{name}"
        case Literal():
            return quoted(rex, typed_literal)
        case Sarg():
            return condition_digest(rex, ())
        case Over():
            return _over(rex, text)
        case SubQuery():
            return _subquery(rex, text, tree)
        case Call():
            return _call(rex, text)
    return expression(rex, ())


def _call(call: Call, text: Callable[[RexNode], str]) -> str:
    function = called(call)
    printed = call_digest(call, text)
    if function is None or function.style is not Style.CAST or operator_name(call) != "CAST":
        return printed
    return f"{printed}:{full_type_name(call.type)}{'' if call.type.nullable else ' NOT NULL'}"


def _over(over: Over, text: Callable[[RexNode], str]) -> str:
    parts = [f"PARTITION BY {', '.join(map(text, over.partition))}"] if over.partition else []
    if over.order:
        order = (_sorted(text(e), ascending, nulls_last) for e, ascending, nulls_last in over.order)
        parts.append(f"ORDER BY {', '.join(order)}")
    if over.function.name != "ROW_NUMBER":  # has the one frame there is, and Calcite leaves it out
        parts += _frame(over.frame, text)
    name = shown_name(over.function.internal_name) if over.function.internal_name else over.function.name
    arguments = ("DISTINCT " if over.distinct else "") + ", ".join(map(text, over.operands))
    return f"{name}({arguments}) OVER ({' '.join(parts)})"


def _sorted(text: str, ascending: bool, nulls_last: bool) -> str:
    nulls = "" if nulls_last is ascending and not ascending else f" NULLS {'LAST' if nulls_last else 'FIRST'}"
    return f"{text}{'' if ascending else ' DESC'}{nulls}"


def _frame(frame: Frame, text: Callable[[RexNode], str]) -> list[str]:
    """The frame, unless it is that of every order, as ``RexWindow`` writes it."""
    if frame.lower is None and frame.upper == 0:
        return ["ROWS UNBOUNDED PRECEDING"] if frame.is_rows else []
    unit = "ROWS" if frame.is_rows else "RANGE"
    lower = _bound(frame.lower, "PRECEDING", text)
    if frame.upper == 0:
        return [f"{unit} {lower}"]
    return [f"{unit} BETWEEN {lower} AND {_bound(frame.upper, 'FOLLOWING', text)}"]


def _bound(bound: RexNode | int | None, direction: str, text: Callable[[RexNode], str]) -> str:
    if bound is None:
        return f"UNBOUNDED {direction}"
    return "CURRENT ROW" if isinstance(bound, int) else f"{text(bound)} {direction}"


def _subquery(rex: SubQuery[Any], text: Callable[[RexNode], str], tree: Tree) -> str:
    """``IN($0, {`` with the relation's tree behind, as ``RexSubQuery`` writes it."""
    name = {SubQueryKind.SCALAR: "$SCALAR_QUERY"}.get(rex.kind, rex.kind.value)
    operands = "".join(f"{text(o)}, " for o in rex.operands)
    lines = "".join(f"{line}\n" for line in tree(rex.rel))
    return f"{name}({operands}{{\n{lines}}})"

"""Simplifying what is no condition: CASE, arithmetic, casts and COALESCE.  Source: Calcite's ``RexSimplify``."""

from __future__ import annotations

from decimal import Decimal
from operator import is_

from ...plan.functions.arithmetic import DIVIDE, MINUS, NEGATE, PLUS
from ...plan.functions.cast import CAST
from ...plan.record import replace
from ...plan.rex import Call, InputRef, Literal, RexNode, children
from ...plan.types import CHARACTER, INTEGERS, NUMERIC
from .alike import only_reordered
from .cases import boolean_case, is_direct, is_lossless, is_safe
from .expressions import TRUE, cast, is_always_false, is_always_true, is_call, or_
from .folding import fold
from .simplifier import Simplifier
from .truth import UnknownAs


def simplify_case(simplifier: Simplifier, rex: Call, unknown: UnknownAs) -> RexNode:
    """CASE without unreachable branches, and with adjacent branches of equal results merged."""
    certain = simplifier.unknowing()
    *branches, otherwise = rex.operands
    pairs = [*zip(branches[::2], branches[1::2], strict=True), (TRUE, otherwise)]
    kept: list[tuple[RexNode, RexNode]] = []
    for asked, yielded in pairs:
        condition = certain.simplify(asked, UnknownAs.FALSE)
        if is_always_false(condition):
            continue
        value = simplifier.simplify(yielded, unknown if rex.type.root == "BOOLEAN" else UnknownAs.UNKNOWN)
        if kept and kept[-1][1] == value and is_safe(condition):
            condition = certain.simplify(or_([kept.pop()[0], condition]), UnknownAs.FALSE)
        kept.append((condition, value))
        if is_always_true(condition):
            break
    if len(kept) == 1:
        return kept[0][1] if rex.type.nullable else cast(kept[0][1], rex.type)
    operands = (*(part for pair in kept[:-1] for part in pair), kept[-1][1])
    new = rex
    if not only_reordered(operands, rex.operands):
        nullable = any(value.type.nullable for _, value in kept)
        new = replace(rex, operands=operands, type=rex.type.with_nullability(nullable))
    expanded = boolean_case(new) if rex.type.root == "BOOLEAN" else new
    return new if expanded == new else simplifier.simplify(expanded, unknown)


def simplify_arithmetic(simplifier: Simplifier, rex: Call, unknown: UnknownAs) -> RexNode:
    """Adding zero, multiplying by one and negating twice leave a number as it is."""
    neutral = 0 if is_call(rex, PLUS, MINUS) else 1
    places = (1,) if is_call(rex, MINUS, DIVIDE) else (0, 1)
    operands = tuple(map(simplifier.simplify, rex.operands))
    rex = rex if all(map(is_, operands, rex.operands)) else replace(rex, operands=operands)
    if is_call(rex, NEGATE) and is_call(operands[0], NEGATE):
        return children(operands[0])[0]
    if len(operands) == 2 and all(o.type.root in NUMERIC for o in operands):
        for place in places:
            operand = operands[place]
            if isinstance(operand, Literal) and operand.value is not None and Decimal(operand.value) == neutral:
                return cast(operands[1 - place], rex.type)
    return _settled(simplifier, rex, simplifier.fold(rex))


SETTLED = "is_settled"
"""In the ``dict`` of a call that stays as it is, whatever is known: arithmetic and casts of columns and of such calls.

Long sums, which filters that are pushed past many projections have, would be gone through each time one of them moves.
"""


def _settled(simplifier: Simplifier, rex: Call, simplified: RexNode) -> RexNode:
    """What a call has been simplified to; noted where that is the call itself and will be."""
    if simplified is rex and simplifier.evaluates and all(map(_is_settled, rex.operands)):
        rex.__dict__[SETTLED] = True
    return simplified


def _is_settled(rex: RexNode) -> bool:
    return type(rex) in (InputRef, Literal) or (type(rex) is Call and SETTLED in rex.__dict__)


def simplify_cast(simplifier: Simplifier, rex: Call, unknown: UnknownAs) -> RexNode:
    """CAST without redundant casts: one that only adds nullability, and a lossless inner one."""
    operand = simplifier.simplify(rex.operands[0])
    if _narrows(operand, rex):
        return operand
    if is_call(operand, CAST):
        source = children(operand)[0]
        keeps_blanks = "CHAR" in (source.type.root, rex.type.root) or operand.type.root != "CHAR"
        if is_lossless(source.type, operand.type):
            if _narrows(source, rex) and (source.type.root == "CHAR" or operand.type.root != "CHAR"):
                return source
            if (keeps_blanks or rex.type.root == operand.type.root) and is_direct(source.type, rex.type):
                return fold(replace(rex, operands=(source,)))
    kept = without_null(operand)
    new = rex if kept is rex.operands[0] else replace(rex, operands=(kept,))
    return _settled(simplifier, rex, fold(new)) if simplifier.evaluates else _retyped(new) or fold(new)


def _retyped(rex: Call) -> RexNode | None:
    """A number's or text's literal with the type of its cast, if that holds it.  Source: ``RexBuilder.makeCast``."""
    literal, t = rex.operands[0], rex.type
    if not isinstance(literal, Literal) or literal.value is None:
        return None
    if literal.type.root in CHARACTER and t.root == "VARCHAR" and len(literal.value) <= (t.length or 0):
        return cast(replace(literal, type=t.not_null()), t)
    if literal.type.root not in (*INTEGERS, "DECIMAL") or t.root not in ("DECIMAL", "DOUBLE"):
        return None
    number = Decimal(str(literal.value))
    scale = -int(number.as_tuple().exponent)
    integer_digits = len(number.as_tuple().digits) - scale
    fits = t.root == "DOUBLE" or (scale <= (t.scale or 0) and integer_digits <= (t.precision or 0) - (t.scale or 0))
    return cast(Literal(str(literal.value), t.not_null()), t) if fits else None


def without_null(rex: RexNode) -> RexNode:
    """The literal of a cast that only makes it nullable; other expressions as they are."""
    return children(rex)[0] if is_call(rex, CAST) and _is_literal_of(rex) else rex


def _is_literal_of(rex: RexNode) -> bool:
    operand = children(rex)[0]
    return isinstance(operand, Literal) and operand.type == rex.type.not_null()


def _narrows(operand: RexNode, rex: Call) -> bool:
    """Whether the operand is of the cast's type, or of that without NULL."""
    return operand.type in (rex.type, rex.type.not_null())


def simplify_coalesce(simplifier: Simplifier, rex: Call, unknown: UnknownAs) -> RexNode:
    """Arguments behind one that is never NULL are never reached.

    A single argument that may be NULL keeps its call.  Source: ``RemoveUnreachableCoalesceArgumentsRule``, whereas
    ``RexSimplify`` does not know Flink's COALESCE.
    """
    if not simplifier.evaluates:
        return simplifier.operands_first(rex)
    kept: list[RexNode] = []
    for operand in map(simplifier.simplify, rex.operands):
        kept.append(operand)
        if not operand.type.nullable:
            break
    literals = [o for o in kept if isinstance(o, Literal)]
    if len(literals) == len(kept):
        kept = [*[o for o in literals if o.value is not None][:1]] or kept
    if len(kept) == 1 and (isinstance(kept[0], Literal) or not kept[0].type.nullable):
        return cast(kept[0], rex.type)
    return replace(rex, operands=tuple(kept))

"""Simplifying conditions and expressions.  Source: Calcite's ``RexSimplify``, ``FlinkRexUtil.simplify``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from ...plan.rex import Call, Literal, RexNode, children
from ...plan.types import NUMERIC
from . import sargs
from .cases import boolean_case
from .folding import fold
from .rexes import (
    AND,
    CASE,
    CAST,
    COALESCE,
    COMPARISONS,
    EQ,
    FALSE,
    GE,
    IS_FALSE,
    IS_NOT_FALSE,
    IS_NOT_NULL,
    IS_NOT_TRUE,
    IS_NULL,
    IS_TRUE,
    LE,
    NE,
    NEGATED,
    NEGATED_TESTS,
    NOT,
    OR,
    SEARCH,
    TRUE,
    UNKNOWN,
    and_,
    case,
    cast,
    compare,
    flatten,
    is_always_false,
    is_always_true,
    is_call,
    is_deterministic,
    not_,
    or_,
    rewrite,
    test,
)


def simplify(rex: RexNode) -> RexNode:
    """An expression of equal value."""
    return rewrite(rex, _simplify_node)


def text_as_column(rex: RexNode) -> RexNode:
    """Text that a condition compares with a VARCHAR gets the type of that."""
    if not is_call(rex, EQ, NE):
        return rex
    left, right = children(rex)
    if isinstance(right, Literal) and right.type.root == "CHAR" and left.type.root == "VARCHAR":
        return compare(rex.name, left, replace(right, type=left.type.not_null()))  # type: ignore[union-attr]
    if isinstance(left, Literal) and left.type.root == "CHAR" and right.type.root == "VARCHAR":
        return compare(rex.name, replace(left, type=right.type.not_null()), right)  # type: ignore[union-attr]
    return rex


def simplify_condition(rex: RexNode) -> RexNode:
    """A condition that keeps the same rows: NULL counts as FALSE."""
    found = _unknown_as_false(simplify(_certain(pull_factors(rewrite(rex, text_as_column)))))
    return FALSE if isinstance(found, Literal) and found.value is None else found


def pull_factors(rex: RexNode) -> RexNode:
    """``(a AND b) OR (a AND c)`` as ``a AND (b OR c)``.  Source: ``RexUtil.pullFactors``."""
    if is_call(rex, AND):
        return and_(map(pull_factors, flatten(AND, rex)))
    terms = [flatten(AND, term) for term in flatten(OR, rex)]
    common = [part for part in terms[0] if all(part in term for term in terms)]
    if len(terms) < 2 or not common:
        return rex
    return and_([*common, or_(and_(part for part in term if part not in common) for term in terms)])


def _certain(rex: RexNode) -> RexNode:
    """A condition whose cases yield FALSE instead of UNKNOWN, those of one result in a row together."""
    if is_call(rex, AND, OR):
        join = and_ if is_call(rex, AND) else or_
        return join(map(_certain, children(rex)))
    if is_call(rex, NOT) and is_call(children(rex)[0], CASE):
        *branches, last = children(children(rex)[0])
        values = [negate(b) if i % 2 else b for i, b in enumerate(branches)]
        return _certain(case([*values, negate(last)], rex.type))
    if not is_call(rex, CASE) or rex.type.root != "BOOLEAN":
        return rex
    *branches, last = (FALSE if o == UNKNOWN else o for o in children(rex))
    merged: list[RexNode] = []
    for condition, value in zip(branches[::2], branches[1::2], strict=True):
        if merged and merged[-1] == value:
            merged[-2] = or_([merged[-2], _unknown_as_false(condition)])
        else:
            merged += [_unknown_as_false(condition), value]
    return case([*merged, last], rex.type)


def _unknown_as_false(rex: RexNode) -> RexNode:
    if isinstance(rex, Literal) and rex.value is None:
        return FALSE
    if is_call(rex, IS_TRUE):
        return _unknown_as_false(children(rex)[0])
    if is_call(rex, SEARCH):
        return sargs.unknown_as_false(rex)
    for name, join in ((AND, and_), (OR, or_)):
        if is_call(rex, name):
            parts = flatten(name, rex)
            new = tuple(map(_unknown_as_false, parts))
            rex = rex if new == parts else simplify(join(new))
    return _nulls_last(rex) if is_call(rex, AND) else rex


def _nulls_last(rex: RexNode) -> RexNode:
    """IS NOT NULL behind what else must hold, left out where a comparison says so anyway."""
    parts = flatten(AND, rex)
    tests = [p for p in parts if is_call(p, IS_NOT_NULL)]
    others = [p for p in parts if p not in tests]
    compared = {o for p in others if is_call(p, *COMPARISONS) for o in children(p)}
    return and_([*others, *(t for t in tests if children(t)[0] not in compared)])


def _simplify_node(rex: RexNode) -> RexNode:
    if not isinstance(rex, Call):
        return rex
    rule = _RULES.get(rex.name)
    found = rule(rex) if rule else rex
    return fold(found) if isinstance(found, Call) else found


def _and(rex: Call) -> RexNode:
    """What is negated comes last."""
    terms = sorted(flatten(AND, rex), key=lambda t: is_call(t, NOT))
    return _junction(and_(terms), AND, TRUE, FALSE, sargs.intersect, and_)


def _or(rex: Call) -> RexNode:
    terms = flatten(OR, rex)
    if any(is_call(t, IS_NOT_TRUE) and children(t)[0] in terms for t in terms):
        return TRUE
    nulls = [t for t in terms if is_call(t, IS_NULL)]
    ordered = [*nulls, *(t for t in terms if not is_call(t, IS_NULL))]
    return _junction(or_(_without_negations(ordered)), OR, FALSE, TRUE, sargs.unite, or_)


def _without_negations(terms: list[RexNode]) -> list[RexNode]:
    """``a = 1 OR (b AND a <> 1)`` as ``a = 1 OR b``, and so with IS NULL."""
    for i, term in enumerate(terms):
        if is_call(term, *COMPARISONS, IS_NULL, IS_NOT_NULL) and not term.type.nullable:
            negated = negate(term)
            terms[i + 1 :] = [and_(p for p in flatten(AND, t) if p != negated) for t in terms[i + 1 :]]
    return terms


def _junction(
    rex: RexNode,
    name: str,
    neutral: Literal,
    absorbing: Literal,
    combine: Callable[[sargs.Search, sargs.Search], sargs.Search],
    join: Callable[[list[RexNode]], RexNode],
) -> RexNode:
    terms = [t for t in flatten(name, rex) if t != neutral]
    if any(t.value is absorbing.value for t in terms if isinstance(t, Literal)):
        return absorbing
    terms = list(dict.fromkeys(terms))
    if any(_negation_of(t) in terms for t in terms if not t.type.nullable):
        return absorbing
    merged = _merge_searches(terms, combine)
    if any(isinstance(t, Literal) and t.value is absorbing.value for t in merged):
        return absorbing
    return join([t for t in merged if t != neutral])


def _negation_of(rex: RexNode) -> RexNode | None:
    if isinstance(rex, Call) and rex.name in NEGATED_TESTS:
        return replace(rex, name=NEGATED_TESTS[rex.name])
    return None


def _merge_searches(
    terms: list[RexNode], combine: Callable[[sargs.Search, sargs.Search], sargs.Search]
) -> list[RexNode]:
    """Searches of one operand become one, where the first of them stood, if that makes a SEARCH worthwhile."""
    searches: dict[RexNode, sargs.Search] = {}
    slots: list[RexNode | None] = []
    operands: list[RexNode] = []
    for term in terms:
        found = sargs.read(term) if is_deterministic(term) else None
        if found is None:
            slots.append(term)
            operands.append(term)
        elif found.operand in searches:
            searches[found.operand] = combine(searches[found.operand], found)
        else:
            searches[found.operand] = found
            slots.append(None)
            operands.append(found.operand)
    if len(slots) == len(terms):
        return terms
    return [sargs.write(searches[o]) if s is None else s for s, o in zip(slots, operands, strict=True)]


def _not(rex: Call) -> RexNode:
    return negate(rex.operands[0])


def negate(rex: RexNode) -> RexNode:
    """NOT of a condition, pushed inwards."""
    if isinstance(rex, Literal):
        return rex if rex.value is None else (FALSE if rex.value else TRUE)
    if isinstance(rex, Call):
        if rex.name in NEGATED:
            return replace(rex, name=NEGATED[rex.name])
        if rex.name in NEGATED_TESTS:
            return replace(rex, name=NEGATED_TESTS[rex.name])
        if rex.name == NOT:
            return rex.operands[0]
        if rex.name == SEARCH:
            return sargs.negate(rex)
        if rex.name == CASE:
            last = len(rex.operands) - 1
            operands = (o if i % 2 == 0 and i < last else not_(o) for i, o in enumerate(rex.operands))
            return simplify(replace(rex, operands=tuple(operands)))
        if rex.name == AND:
            return simplify(or_(negate(o) for o in flatten(AND, rex)))
        if rex.name == OR:
            return simplify(and_(negate(o) for o in flatten(OR, rex)))
    return not_(rex)


def _is_null(rex: Call) -> RexNode:
    operand = rex.operands[0]
    is_null = rex.name == IS_NULL
    if isinstance(operand, Literal):
        return TRUE if (operand.value is None) == is_null else FALSE
    if not operand.type.nullable:
        return FALSE if is_null else TRUE
    if is_call(operand, CAST) and isinstance(operand, Call) and not is_call(operand, "$TRY_CAST$1"):
        return _is_null(Call(rex.name, operand.operands, rex.type, rex.syntax))
    return rex


def _truth_test(rex: Call) -> RexNode:
    operand = rex.operands[0]
    if isinstance(operand, Literal):
        wanted = {IS_TRUE: operand.value is True, IS_FALSE: operand.value is False}
        wanted |= {IS_NOT_TRUE: operand.value is not True, IS_NOT_FALSE: operand.value is not False}
        return TRUE if wanted[rex.name] else FALSE
    if operand.type.nullable:
        return rex
    return operand if rex.name in (IS_TRUE, IS_NOT_FALSE) else negate(operand)


def _comparison(rex: Call) -> RexNode:
    left, right = rex.operands
    if any(isinstance(o, Literal) and o.value is None for o in (left, right)):
        return Literal(None, rex.type.nullable_())
    if rex.name in (EQ, NE) and any(isinstance(o, Literal) and isinstance(o.value, bool) for o in (left, right)):
        return _truth(rex)
    if left == right and is_deterministic(left) and not isinstance(left, Literal) and rex.name in (EQ, LE, GE):
        return TRUE if not left.type.nullable else test(IS_NOT_NULL, left)
    return rex


def _truth(rex: Call) -> RexNode:
    """``b = TRUE`` as ``b``, ``b = FALSE`` as ``NOT b``."""
    condition, value = sorted(rex.operands, key=lambda o: isinstance(o, Literal))
    return condition if is_always_true(value) == (rex.name == EQ) else negate(condition)


def _case(rex: Call) -> RexNode:
    *branches, otherwise = rex.operands
    kept: list[RexNode] = []
    for condition, value in zip(branches[::2], branches[1::2], strict=True):
        if is_always_true(condition):
            otherwise = value
            break
        if not is_always_false(condition):
            kept += [condition, value]
    if not kept:
        return cast(otherwise, rex.type)
    operands = (*kept, otherwise)
    found = rex if operands == rex.operands else replace(rex, operands=operands)
    expanded = boolean_case(found) if rex.type.root == "BOOLEAN" else found
    return found if expanded == found else simplify(expanded)


def _arithmetic(rex: Call) -> RexNode:
    """Adding zero or multiplying by one leaves a number as it is."""
    neutral = 0 if rex.name in ("$+$1", "$-$1") else 1
    places = (1,) if rex.name in ("$-$1", "$/$1") else (0, 1)
    if len(rex.operands) != 2 or any(o.type.root not in NUMERIC for o in rex.operands):
        return rex
    for place in places:
        operand = rex.operands[place]
        if isinstance(operand, Literal) and operand.value is not None and Decimal(operand.value) == neutral:
            return cast(rex.operands[1 - place], rex.type)
    return rex


def _cast(rex: Call) -> RexNode:
    operand = rex.operands[0]
    return operand if operand.type == rex.type else rex


def _coalesce(rex: Call) -> RexNode:
    """Arguments behind one that is never NULL are never reached."""
    kept: list[RexNode] = []
    for operand in rex.operands:
        if isinstance(operand, Literal) and operand.value is None:
            continue
        kept.append(operand)
        if not operand.type.nullable:
            break
    if len(kept) == 1:
        return cast(kept[0], rex.type)
    return replace(rex, operands=tuple(kept)) if kept and len(kept) < len(rex.operands) else rex


_RULES: dict[str, Callable[[Call], RexNode]] = {
    AND: _and,
    OR: _or,
    NOT: _not,
    IS_NULL: _is_null,
    IS_NOT_NULL: _is_null,
    **dict.fromkeys((IS_TRUE, IS_FALSE, IS_NOT_TRUE, IS_NOT_FALSE), _truth_test),
    **dict.fromkeys(COMPARISONS, _comparison),
    CASE: _case,
    CAST: _cast,
    COALESCE: _coalesce,
    SEARCH: sargs.fold,
    **dict.fromkeys(("$+$1", "$-$1", "$*$1", "$/$1"), _arithmetic),
}


def to_cnf(rex: RexNode) -> RexNode:
    """Conjunctive normal form, unless that more than doubles the expression.  Source: ``FlinkRexUtil.toCnf``."""
    limit = 2 * count_nodes(rex)
    try:
        return and_(_cnf(rex, limit))
    except _TooLong:
        return rex


class _TooLong(Exception):
    pass


def count_nodes(rex: RexNode) -> int:
    """How many nodes an expression has."""
    return 1 + sum(map(count_nodes, children(rex)))


def _cnf(rex: RexNode, limit: int) -> list[RexNode]:
    if is_call(rex, AND):
        parts = [p for o in flatten(AND, rex) for p in _cnf(o, limit)]
    elif is_call(rex, OR):
        head, *tail = flatten(OR, rex)
        left, right = _cnf(head, limit), _cnf(or_(tail), limit)
        parts = [or_([a, b]) for a in left for b in right]
    else:
        parts = [rex]
    if sum(map(count_nodes, parts)) + 1 > limit:
        raise _TooLong
    return parts

"""Simplifying AND and OR.  Source: Calcite's ``RexSimplify`` and its ``SargCollector``."""

from __future__ import annotations

from collections.abc import Callable

from ...plan.functions import called, is_deterministic
from ...plan.functions.comparison import AND, IS_NOT_NULL, IS_NOT_TRUE, IS_NULL, NOT, OR, SEARCH
from ...plan.record import cached_on_record
from ...plan.rex import FieldAccess, InputRef, Literal, RexNode, children
from . import sargs
from .expressions import (
    COMPARISONS,
    FALSE,
    MIRRORED,
    NEGATED,
    TRUE,
    UNKNOWN,
    and_,
    compare,
    flatten,
    is_always_true,
    is_call,
    not_,
    or_,
    test,
)
from .ranges import Bounds
from .simplifier import Simplifier
from .strong import rejects_null
from .truth import UnknownAs


def simplify_and(simplifier: Simplifier, rex: RexNode, unknown: UnknownAs) -> RexNode:
    """Simplify AND; negated terms come last."""
    terms = list(flatten(AND, rex))
    if unknown is UnknownAs.FALSE and simplifier.eliminates:
        terms = _each_knowing_the_others(simplifier, terms, unknown)
    else:
        terms = [simplifier.simplify(t, unknown) for t in terms]
    terms = _collected(terms, sargs.intersect, unknown, every=True)
    parts = [p for t in terms for p in flatten(AND, t) if not is_always_true(p)]
    positive = [p for p in parts if not is_call(p, NOT)]
    negative = [children(p)[0] for p in parts if is_call(p, NOT)]
    if any(_is(p, False) for p in positive):
        return FALSE
    if unknown is UnknownAs.FALSE:
        return _all_true(simplifier, positive, negative)
    return _all(simplifier, positive, negative)


def simplify_or(simplifier: Simplifier, rex: RexNode, unknown: UnknownAs) -> RexNode:
    """Simplify OR; IS NULL tests come first where terms are simplified by one another."""
    terms = _with_lists_written_out(list(flatten(OR, rex)))
    if simplifier.eliminates:
        terms.sort(key=lambda term: not is_call(term, IS_NULL))
        terms = _each_where_the_others_fail(simplifier, terms, unknown)
    else:
        terms = [simplifier.simplify(t, unknown) for t in terms]
    terms = [_or_not(t, terms) for t in _collected(terms, sargs.unite, unknown, every=False)]
    kept: list[RexNode] = []
    for term in (p for t in terms for p in flatten(OR, t)):
        if _is(term, True):
            return TRUE
        if _is(term, None) and unknown is not UnknownAs.UNKNOWN:
            if unknown is UnknownAs.TRUE:
                return TRUE
        elif not _is(term, False):
            kept.append(term)
    return or_(kept)


def _or_not(term: RexNode, terms: list[RexNode]) -> RexNode:
    """A term whose negation is one of the terms holds wherever it is not UNKNOWN, and where that is a test always."""
    if test(IS_NOT_TRUE, term) in terms:
        return TRUE
    if not_(term) not in terms:
        return FALSE if is_call(term, NOT) and children(term)[0] in terms else term
    return or_([test(IS_NOT_NULL, term), UNKNOWN]) if term.type.nullable else TRUE


def _is(rex: RexNode, value: bool | None) -> bool:
    return type(rex) is Literal and rex.value is value


@cached_on_record
def _is_predicate(rex: RexNode) -> bool:
    """Whether the condition is a predicate on one column or value, by which others can be simplified."""
    if is_call(rex, IS_NULL, IS_NOT_NULL):
        return isinstance(children(rex)[0], (InputRef, FieldAccess))
    return is_call(rex, *COMPARISONS) and sargs.read(rex) is not None and is_deterministic(rex)


def _each_knowing_the_others(simplifier: Simplifier, terms: list[RexNode], unknown: UnknownAs) -> list[RexNode]:
    """Simplify each term given that the comparisons before it hold; other terms given that all comparisons hold."""
    simplified = list(terms)
    for first in (True, False):
        for i, term in enumerate(terms):
            if _is_predicate(term) is first:
                simplified[i] = simplifier.simplify(term, unknown)
                if first:
                    simplifier = simplifier.knowing(simplified[i])
    return simplified


def _each_where_the_others_fail(simplifier: Simplifier, terms: list[RexNode], unknown: UnknownAs) -> list[RexNode]:
    """Simplify each term given that the comparisons before it, if never UNKNOWN, do not hold."""
    simplified = list(terms)
    done: set[int] = set()
    for i, term in enumerate(terms):
        if _is_predicate(term) and (is_call(term, IS_NULL, IS_NOT_NULL) or simplifier.is_certain(_operand(term))):
            done.add(i)
            simplified[i] = simplifier.simplify(term, unknown)
            simplifier = simplifier.knowing(simplifier.simplify(test(IS_NOT_TRUE, simplified[i])))
    return [t if i in done else simplifier.simplify(t, unknown) for i, t in enumerate(simplified)]


def _operand(comparison: RexNode) -> RexNode:
    left, right = children(comparison)
    return right if isinstance(left, Literal) else left


def _collected(
    terms: list[RexNode],
    combine: Callable[[sargs.Search, sargs.Search], sargs.Search],
    unknown: UnknownAs,
    *,
    every: bool,
) -> list[RexNode]:
    """Terms on one column are combined to one SEARCH, where that is simpler."""
    by_column: dict[RexNode, list[sargs.Search]] = {}
    slots: list[RexNode] = []
    """Terms, and for each search its column where it stood first."""
    plain: set[int] = set()
    has_search = False
    if not every:
        terms = _with_lists_written_out(terms)
    for term in terms:
        searched = sargs.read(term)
        if searched is None or not sargs.is_searched(searched.operand):
            plain.add(len(slots))
            slots.append(term)
            continue
        has_search |= is_call(term, SEARCH)
        if searched.operand in by_column:
            by_column[searched.operand].append(searched)
        else:
            by_column[searched.operand] = [searched]
            slots.append(searched.operand)
    searches = {column: sargs.combined(searched, combine) for column, searched in by_column.items()}
    is_complex = any(sargs.complexity(sargs.complement(s) if every else s) > 1 for s in searches.values())
    if not is_complex and not has_search and not (len(slots) == 1 and all(map(sargs.is_simple, searches.values()))):
        return terms
    return [s if i in plain else sargs.written(searches[s], unknown) for i, s in enumerate(slots)]


def _with_lists_written_out(terms: list[RexNode]) -> list[RexNode]:
    """The terms of an OR with IN lists as comparisons, where other terms are about the same column.

    Source: ``SqlToRelConverter``, which makes no SEARCH of IN.
    """
    searches = [sargs.read(term) for term in terms]
    columns = [searched.operand for searched in searches if searched is not None]
    out: list[RexNode] = []
    for term, searched in zip(terms, searches, strict=True):
        is_list = is_call(term, SEARCH) and searched is not None and searched.null is None and searched.is_points
        is_shared = searched is not None and columns.count(searched.operand) > 1
        out += flatten(OR, sargs.expand(term)) if is_list and is_shared else [term]
    return out


def _all(simplifier: Simplifier, terms: list[RexNode], negated: list[RexNode]) -> RexNode:
    """Simplify AND where UNKNOWN differs from FALSE."""
    contradicted = [n for n in negated if all(c in terms for c in flatten(AND, n))]
    if any(not n.type.nullable for n in contradicted):
        return FALSE
    if contradicted:
        terms = [t for t in terms if t not in contradicted]
        negated = [n for n in negated if n not in contradicted]
        terms += [UNKNOWN, *(simplifier.simplify(test(IS_NULL, n)) for n in contradicted)]
    return and_([*terms, *(simplifier.simplify(not_(n)) for n in negated)])


def _all_true(simplifier: Simplifier, terms: list[RexNode], negated: list[RexNode]) -> RexNode:
    """Simplify AND where UNKNOWN counts as FALSE.

    Comparisons that others imply are left out, and IS NOT NULL of what is compared; the other ones come last.
    """
    if any(_is(t, None) for t in terms):
        return FALSE
    if len(terms) == 1 and not negated:
        return simplifier.simplify(terms[0], UnknownAs.FALSE)
    bounds = Bounds(terms)
    opposites: set[RexNode] = set()
    if not all(map(bounds.add, (c for known in simplifier.comparisons.values() for c in known.conditions))):
        return FALSE
    for i, term in enumerate(terms):
        if is_call(term, *COMPARISONS) and is_deterministic(term):
            opposites |= _opposites(term)
            bounds.terms[i] = simplifier.reduce_by_known_conditions(term)
            if not bounds.add(bounds.terms[i]):
                return FALSE
    tests = [t for t in bounds.terms if is_call(t, IS_NOT_NULL)]
    kept = [t for t in bounds.terms if t not in tests]
    if any(is_call(t, IS_NULL) and _is_implied(t, kept) for t in kept) or bounds.contradict():
        return FALSE
    kept = [t for t in kept if not bounds.implies(t)]
    not_null = [t for t in tests if not _is_implied(t, [*kept, *map(not_, negated)])]
    if any(all(c in kept for c in flatten(AND, n)) for n in negated if is_deterministic(n)):
        return FALSE
    return FALSE if not opposites.isdisjoint(kept) else and_([*kept, *map(not_, negated), *not_null])


def _is_implied(null_test: RexNode, terms: list[RexNode]) -> bool:
    """Whether the terms can only be true where the column or field that is tested for NULL is not NULL."""
    tested = children(null_test)[0]
    if not isinstance(tested, (InputRef, FieldAccess)):
        return False
    return any(rejects_null(t, lambda r: r == tested) for t in terms if is_deterministic(t))


def _opposites(comparison: RexNode) -> set[RexNode]:
    """The negation of a comparison, written both ways."""
    left, right = children(comparison)
    operator = NEGATED[called(comparison)]
    return {compare(operator, left, right), compare(MIRRORED[operator], right, left)}

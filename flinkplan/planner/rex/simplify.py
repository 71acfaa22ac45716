"""Simplifying conditions and expressions.  Source: Calcite's ``RexSimplify``, ``FlinkRexUtil.simplify``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from operator import is_

from ...plan.functions import Function, called, is_deterministic
from ...plan.functions.arithmetic import DATETIME_MINUS, DATETIME_PLUS, DIVIDE, MINUS, NEGATE, PLUS, TIMES
from ...plan.functions.cast import CAST
from ...plan.functions.collection import ITEM
from ...plan.functions.comparison import (
    AND,
    EQ,
    GE,
    GT,
    IS_FALSE,
    IS_NOT_DISTINCT_FROM,
    IS_NOT_FALSE,
    IS_NOT_NULL,
    IS_NOT_TRUE,
    IS_NULL,
    IS_TRUE,
    LE,
    LIKE,
    NE,
    NOT,
    OR,
    SEARCH,
)
from ...plan.functions.conditional import CASE, COALESCE
from ...plan.functions.user import calls_python_anywhere
from ...plan.record import Record, cached_on_record, field, replace
from ...plan.rex import Call, FieldAccess, InputRef, Literal, RexNode, children, classes, walk
from . import sargs
from .alike import are_alike, only_reordered
from .cases import is_lossless, is_safe
from .expressions import (
    COMPARISONS,
    FALSE,
    MIRRORED,
    NEGATED,
    NEGATED_TESTS,
    TRUE,
    UNKNOWN,
    and_,
    case,
    cast,
    compare,
    is_always_true,
    is_call,
    is_strict,
    not_,
    or_,
    test,
)
from .folding import fold
from .junctions import simplify_and, simplify_or
from .normal_forms import pull_factors
from .ranges import Known, point, residue
from .sargs import comparison
from .truth import UnknownAs
from .value_rules import SETTLED, simplify_arithmetic, simplify_case, simplify_cast, simplify_coalesce, without_null


def simplify(rex: RexNode, known: Iterable[RexNode] = ()) -> RexNode:
    """An expression of equal value and type, given conditions that are known to hold."""
    return cast(reduce(Simplifier.knowing, known, Simplifier()).simplify(rex), rex.type)


def shorten(rex: RexNode) -> RexNode:
    """As :func:`simplify`, but calls of constants are not folded."""
    return cast(Simplifier(evaluates=False).simplify(rex), rex.type)


@cached_on_record
def simplify_condition(rex: RexNode, known: tuple[RexNode, ...] = ()) -> RexNode:
    """Simplify a condition of a filter, where NULL counts as FALSE, given conditions that are known to hold.

    A condition that would only be reordered stays as it is, unless it has a SEARCH.
    """
    simplified = pull_factors(_condition(reduce(Simplifier.knowing, known, Simplifier()), rex))
    searches = any(is_call(part, SEARCH) for part in walk(rex))
    return rex if not searches and are_alike(simplified, rex) else simplified


def simplify_knowing(rex: RexNode, known: Iterable[RexNode]) -> RexNode:
    """Simplify a condition by comparisons that are known to hold; as it is, where they say nothing of its columns."""
    simplifier = Simplifier()
    for condition in known:
        if comparison(condition) is not None:
            simplifier = simplifier.knowing(condition)
    if not any(operand in simplifier.comparisons for operand in walk(rex)):
        return rex
    return _condition(simplifier, rex)


@cached_on_record
def reordered_condition(rex: RexNode) -> RexNode:
    """As :func:`simplify_condition`, but in the order that simplifying leaves behind.  Source: ``RelBuilder``."""
    return _condition(Simplifier(), rex)


def built_condition(rex: RexNode) -> RexNode:
    """As :func:`reordered_condition`, but no term is simplified by another one.

    Source: ``RelBuilder.filter``, which eliminates no predicates, and drops a cast that only says that the whole
    condition is never NULL.
    """
    return _built(Simplifier(eliminates=False), rex)


def first_condition(rex: RexNode) -> RexNode:
    """As :func:`built_condition`, of a condition as it was written: calls of constants in it stay."""
    return _built(Simplifier(evaluates=False, eliminates=False), rex)


def _built(simplifier: Simplifier, rex: RexNode) -> RexNode:
    built = _condition(simplifier, rex)
    only_not_null = is_call(built, CAST) and children(built)[0].type == built.type.nullable_()
    return children(built)[0] if only_not_null else built


def _condition(simplifier: Simplifier, rex: RexNode) -> RexNode:
    simplified = simplifier.simplify(rex, UnknownAs.FALSE)
    return FALSE if isinstance(simplified, Literal) and simplified.value is None else simplified


def negate(rex: RexNode) -> RexNode:
    """NOT of a condition, pushed down."""
    return Simplifier().simplify(not_(rex))


def is_python_constant(rex: RexNode) -> bool:
    """Whether an expression reads no row and is deterministic, but calls a Python function.

    Flink takes it for a constant, whose parts it does not fold, and then cannot compute it.  Source:
    ``ExpressionReducer``.
    """
    return calls_python_anywhere(rex) and InputRef not in classes(rex) and is_deterministic(rex)


class Simplifier(Record):
    """Simplifies expressions about rows for which conditions are known to hold."""

    tests: frozenset[RexNode] = frozenset()
    comparisons: Mapping[RexNode, Known] = field(default_factory=dict)
    """Known comparisons with literals, by operand."""

    evaluates: bool = True
    """Whether calls of constants are folded, not only casts and comparisons."""

    eliminates: bool = True
    """Whether terms of AND and OR are simplified by one another."""

    def knowing(self, condition: RexNode) -> Simplifier:
        """The simplifier with one more condition that is known to hold."""
        compared = comparison(condition)
        if compared is None:
            return replace(self, tests=self.tests | {condition})
        same = self.comparisons.get(compared[1], Known()).with_one_more(condition, compared)
        return replace(self, comparisons={**self.comparisons, compared[1]: same})

    def simplify(self, rex: RexNode, unknown: UnknownAs = UnknownAs.UNKNOWN) -> RexNode:
        """An expression of equal value; where it is UNKNOWN, the result may be what ``unknown`` says."""
        if rex == UNKNOWN:
            return UNKNOWN if unknown is UnknownAs.UNKNOWN else TRUE if unknown is UnknownAs.TRUE else FALSE
        if type(rex) is Call:
            if SETTLED in rex.__dict__ or is_python_constant(rex):
                return rex
            rule = _RULES.get(called(rex))
            return rule(self, rex, unknown) if rule else self.operands_first(rex)
        if type(rex) is FieldAccess:
            return replace(rex, expr=self.simplify(rex.expr))
        return rex

    def unknowing(self) -> Simplifier:
        """The simplifier with no condition that is known to hold."""
        return replace(self, tests=frozenset(), comparisons={})

    def operands_first(self, rex: Call) -> RexNode:
        """The call with simplified operands, folded if possible."""
        operands = tuple(without_null(self.simplify(o)) for o in rex.operands)
        return self.fold(rex if only_reordered(operands, rex.operands) else replace(rex, operands=operands))

    def fold(self, rex: Call) -> RexNode:
        """The literal for a call of constants, or the call."""
        return fold(rex) if self.evaluates else rex

    def is_certain(self, rex: RexNode) -> bool:
        """Whether the expression is never NULL."""
        if not rex.type.nullable or (self.tests and test(IS_NOT_NULL, rex) in self.tests):
            return True
        compared = comparison(rex)
        return compared is not None and self.is_certain(compared[1])

    def reduce_by_known_conditions(self, rex: RexNode) -> RexNode:
        """The comparison reduced to what the known conditions leave open."""
        compared = comparison(rex)
        known = self.comparisons.get(compared[1]) if compared is not None and self.comparisons else None
        if compared is None or known is None:
            return rex
        operator, operand, literal = compared
        if known.tells_nothing_of(literal):
            return rex
        own = sargs.ranges_of(operator, literal.value)
        left = residue(operator, literal, known.conditions)
        if not left:
            return FALSE
        if left == own:
            return rex
        if left == sargs.ALL:
            return self.simplify(test(IS_NOT_NULL, operand))
        value = point(left)
        return rex if value is None else compare(EQ, operand, replace(literal, value=value.value))


# ---------------------------------------------------------------- conditions


def _not(simplifier: Simplifier, rex: Call, unknown: UnknownAs) -> RexNode:
    inner = rex.operands[0]
    function, operands = called(inner), children(inner)
    if function in (AND, OR):
        parts = [simplifier.simplify(not_(o), unknown) for o in operands]
        return simplifier.simplify(or_(parts) if function is AND else and_(parts), unknown)
    if function is NOT:
        return simplifier.simplify(operands[0], unknown)
    if function is SEARCH and (searched := sargs.read(inner)) is not None:
        return simplifier.simplify(sargs.written(sargs.complement(searched), unknown), unknown)
    if function is CASE:
        last = len(operands) - 1
        cases = (o if i % 2 == 0 and i < last else not_(o) for i, o in enumerate(operands))
        return simplifier.simplify(case(cases, inner.type), unknown)
    if function in NEGATED_TESTS or function in NEGATED:
        opposite = NEGATED_TESTS.get(function) or NEGATED[function]
        return simplifier.simplify(opposite.typed(inner.type, *operands), unknown)
    simplified = simplifier.simplify(inner, unknown.negated())
    if isinstance(simplified, Literal):
        return simplified if simplified.value is None else FALSE if simplified.value else TRUE
    return rex if simplified == inner else not_(simplified)


def _test(simplifier: Simplifier, rex: Call, unknown: UnknownAs) -> RexNode:
    """IS [NOT] NULL, TRUE, FALSE."""
    operand = rex.operands[0]
    if is_call(rex, IS_NULL, IS_NOT_NULL):
        return _null_test(simplifier, rex)
    negated = is_call(rex, IS_FALSE, IS_NOT_TRUE)
    positive = not_(operand) if negated else operand
    asked = UnknownAs.FALSE if is_call(rex, IS_TRUE, IS_FALSE) else UnknownAs.TRUE
    if unknown is asked:
        return simplifier.simplify(positive, unknown)
    if simplifier.is_certain(operand):
        return simplifier.simplify(positive)
    if negated and is_call(operand, NOT):
        of_negated = IS_TRUE if asked is UnknownAs.FALSE else IS_NOT_FALSE
        return simplifier.simplify(test(of_negated, children(operand)[0]))
    inner = simplifier.simplify(operand, UnknownAs.UNKNOWN if negated else asked)
    inner = inner.operands[0] if is_call(inner, CAST) and inner.operands[0] in (TRUE, FALSE) else inner
    if isinstance(inner, Literal):
        value = asked.value if inner.value is None else inner.value != negated
        return TRUE if value else FALSE
    if not inner.type.nullable:
        return simplifier.simplify(not_(inner)) if negated else inner
    return replace(rex, operands=(inner,))


def _null_test(simplifier: Simplifier, rex: Call) -> RexNode:
    operand = rex.operands[0]
    is_null = is_call(rex, IS_NULL)
    asked = IS_NULL if is_null else IS_NOT_NULL
    if rex in simplifier.tests:
        return TRUE
    operand = simplifier.simplify(operand)
    if isinstance(operand, Literal):
        return TRUE if (operand.value is None) == is_null else FALSE
    if not operand.type.nullable and (is_safe(operand) or _has_no_null(operand)):
        return FALSE if is_null else TRUE
    if is_call(operand, CAST) and is_lossless(children(operand)[0].type, operand.type):
        return simplifier.simplify(test(asked, children(operand)[0]))
    if is_strict(operand) and not is_call(operand, CAST) and children(operand):
        parts = [simplifier.simplify(test(asked, o)) for o in children(operand)]
        return or_(parts) if is_null else and_(parts)
    return test(asked, operand)


def _has_no_null(rex: RexNode) -> bool:
    """Whether a call is of operands that are never NULL, by a function that has no rule of its own for NULL."""
    return not is_call(rex, CAST, ITEM) and not any(o.type.nullable for o in children(rex))


def _comparison(simplifier: Simplifier, rex: Call, unknown: UnknownAs) -> RexNode:
    left, right = operands = tuple(map(simplifier.simplify, rex.operands))
    if not all(map(is_, operands, rex.operands)):
        rex = replace(rex, operands=operands, type=rex.type.with_nullability(left.type.nullable or right.type.nullable))
    literals = [o for o in operands if type(o) is Literal]
    if any([o.value is None for o in literals]):
        return simplifier.simplify(UNKNOWN, unknown)
    if left == right and type(left) is not Literal and is_deterministic(left):
        if is_call(rex, EQ, LE, GE):
            return simplifier.simplify(or_([UNKNOWN, test(IS_NOT_NULL, left)]), unknown)
        return simplifier.simplify(and_([UNKNOWN, test(IS_NULL, left)]), unknown)
    if any([isinstance(o.value, bool) for o in literals]):
        return _truth(simplifier, rex, unknown)
    folded = fold(rex)
    return simplifier.reduce_by_known_conditions(folded)


def _truth(simplifier: Simplifier, rex: Call, unknown: UnknownAs) -> RexNode:
    """``b = TRUE`` as ``b``, ``b = FALSE`` as ``NOT b``, and so with what comes to the same."""
    operator, (left, right) = called(rex), rex.operands
    condition, value = left, right
    if isinstance(left, Literal):
        condition, operator, value = right, MIRRORED[operator], left
    if operator in _SAME_AS_BEING[is_always_true(value)]:
        return condition
    if NEGATED[operator] in _SAME_AS_BEING[is_always_true(value)]:
        return simplifier.simplify(not_(condition), unknown)
    return fold(rex)


_SAME_AS_BEING = {True: (EQ, GE), False: (NE, GT)}
"""The comparisons with TRUE and with FALSE that say what the other side is."""


def _search(simplifier: Simplifier, rex: Call, unknown: UnknownAs) -> RexNode:
    """A SEARCH of ranges that are neither none nor all, without a case for NULL that cannot be.

    What is searched stays as it is, unless it is constant.
    """
    operand = simplifier.simplify(rex.operands[0])
    searched = sargs.read(rex)
    if isinstance(operand, Literal) or searched is None:
        return sargs.fold(replace(rex, operands=(operand, *rex.operands[1:])))
    if not searched.ranges or searched.ranges == sargs.ALL:
        return simplifier.simplify(sargs.written(searched, unknown), unknown)
    if searched.null is not None and not operand.type.nullable:
        return sargs.write(replace(searched, null=None))
    if searched.null is None and len(searched.ranges) == 1 and point(searched.ranges) is not None:
        return sargs.expand(rex)
    return rex


def _not_distinct(simplifier: Simplifier, rex: Call, unknown: UnknownAs) -> RexNode:
    """IS [NOT] DISTINCT FROM as an equality test, if not both operands can be NULL."""
    left, right = operands = tuple(map(simplifier.simplify, rex.operands))
    if left.type.nullable and right.type.nullable:
        return replace(rex, operands=operands)
    return simplifier.simplify(test(IS_TRUE, compare(EQ, left, right)), unknown)


def _like(simplifier: Simplifier, rex: Call, unknown: UnknownAs) -> RexNode:
    """Everything that is not NULL is like ``%``."""
    if isinstance(rex.operands[1], Literal) and rex.operands[1].value == "%":
        return simplifier.simplify(or_([UNKNOWN, test(IS_NOT_NULL, rex.operands[0])]), unknown)
    return simplifier.operands_first(rex)


Rule = Callable[[Simplifier, Call, UnknownAs], RexNode]

_RULES: dict[Function | None, Rule] = {
    AND: simplify_and,
    OR: simplify_or,
    NOT: _not,
    **dict.fromkeys(NEGATED_TESTS, _test),
    **dict.fromkeys(COMPARISONS, _comparison),
    SEARCH: _search,
    LIKE: _like,
    IS_NOT_DISTINCT_FROM: _not_distinct,
    CASE: simplify_case,
    CAST: simplify_cast,
    COALESCE: simplify_coalesce,
    **dict.fromkeys((PLUS, MINUS, TIMES, DIVIDE, NEGATE, DATETIME_PLUS, DATETIME_MINUS), simplify_arithmetic),
}

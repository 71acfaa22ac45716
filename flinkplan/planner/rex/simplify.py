"""Simplifying conditions and expressions.  Source: Calcite's ``RexSimplify``, ``FlinkRexUtil.simplify``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
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
from ...plan.types import CHARACTER, INTEGERS, NUMERIC
from . import sargs
from .alike import are_alike, only_reordered
from .cases import boolean_case, is_direct, is_lossless, is_safe
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
    is_always_false,
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
            if _SETTLED in rex.__dict__ or is_python_constant(rex):
                return rex
            rule = _RULES.get(called(rex))
            return rule(self, rex, unknown) if rule else self.operands_first(rex)
        if type(rex) is FieldAccess:
            return replace(rex, expr=self.simplify(rex.expr))
        return rex

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


# ---------------------------------------------------------------- values


def _case(simplifier: Simplifier, rex: Call, unknown: UnknownAs) -> RexNode:
    """CASE without unreachable branches, and with adjacent branches of equal results merged."""
    certain = Simplifier()
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
    new = rex if only_reordered(operands, rex.operands) else replace(rex, operands=operands)
    expanded = boolean_case(new) if rex.type.root == "BOOLEAN" else new
    return new if expanded == new else simplifier.simplify(expanded, unknown)


def _arithmetic(simplifier: Simplifier, rex: Call, unknown: UnknownAs) -> RexNode:
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


_SETTLED = "is_settled"
"""In the ``dict`` of a call that stays as it is, whatever is known: arithmetic and casts of columns and of such calls.

Long sums, which filters that are pushed past many projections have, would be gone through each time one of them moves.
"""


def _settled(simplifier: Simplifier, rex: Call, simplified: RexNode) -> RexNode:
    """What a call has been simplified to; noted where that is the call itself and will be."""
    if simplified is rex and simplifier.evaluates and all(map(_is_settled, rex.operands)):
        rex.__dict__[_SETTLED] = True
    return simplified


def _is_settled(rex: RexNode) -> bool:
    return type(rex) in (InputRef, Literal) or (type(rex) is Call and _SETTLED in rex.__dict__)


def _cast(simplifier: Simplifier, rex: Call, unknown: UnknownAs) -> RexNode:
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


def _coalesce(simplifier: Simplifier, rex: Call, unknown: UnknownAs) -> RexNode:
    """Arguments behind one that is never NULL are never reached.

    A single argument that may be NULL keeps its call.  Source: ``RemoveUnreachableCoalesceArgumentsRule``.
    """
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
    CASE: _case,
    CAST: _cast,
    COALESCE: _coalesce,
    **dict.fromkeys((PLUS, MINUS, TIMES, DIVIDE, NEGATE, DATETIME_PLUS, DATETIME_MINUS), _arithmetic),
}

"""Simplifying and folding the expressions of a tree, with what is known from filters.

Sources: ``ReduceExpressionsRule``, ``RelMdPredicates``, ``AggregateProjectPullUpConstantsRule``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from ...plan.functions.cast import CAST
from ...plan.functions.comparison import EQ, IS_NOT_NULL, IS_NULL, are_text_and_number
from ...plan.functions.user import python_kind
from ...plan.record import cached_on_record, replace
from ...plan.rex import Call, InputRef, Literal, RexNode, children
from ...plan.specs import JoinType
from ...plan.types import CHARACTER, INTEGERS, LogicalType
from ..algebra.aggregations import without_unread
from ..algebra.logical import Aggregate, Filter, Join, Project, SetKind, SetOp, Sort
from ..algebra.rel import Rel
from ..metadata.known_conditions import known_conditions
from ..rex.builder import fits_integer
from ..rex.cases import is_lossless, push_into_cases
from ..rex.expressions import (
    TRUE,
    cast,
    conjunctions,
    contains_over,
    is_always_false,
    is_always_true,
    is_call,
    refs,
    rewrite,
)
from ..rex.simplify import reordered_condition, simplify, simplify_condition
from ..rex.unplanned import Approximate, Over
from .empty import nothing
from .rule import rule


@rule(on=(Filter, Project, Join))
def reduce_expressions(rel: Rel) -> Rel:
    """Simplify the expressions of filters, projections and joins; a filter that never holds is an empty relation."""
    match rel:
        case Filter():
            condition = simplify_condition(_substituted(_cases_expanded(rel.condition), cast_constants(rel.input)))
            read = refs(condition)
            known = tuple([c for c in known_conditions(rel.input) if not read.isdisjoint(refs(c))])
            if known:
                condition = simplify_condition(condition, known)
            if is_always_false(condition):
                return nothing(rel)
            return rel.input if is_always_true(_without_test(condition)) else replace(rel, condition=condition)
        case Project():
            exprs = tuple(_reduced(e, rel.input) for e in _with_constant_windows(rel))
            return rel if exprs == rel.exprs else replace(rel, exprs=exprs)
        case Join():
            return replace(rel, condition=simplify_condition(_cases_expanded(rel.condition)))
    return rel


def _without_test(condition: RexNode) -> RexNode:
    """TRUE for a condition that is nothing but IS NOT NULL of what is never NULL by its type."""
    is_test = is_call(condition, IS_NOT_NULL) and not condition.operands[0].type.nullable
    return TRUE if is_test else condition


def _cases_expanded(condition: RexNode) -> RexNode:
    """The condition with comparisons of CASE expanded."""
    pushed = push_into_cases(condition)
    return condition if pushed == condition else reordered_condition(pushed)


def _reduced(rex: RexNode, source: Rel) -> RexNode:
    """The simplified expression, cast to its former type."""
    return cast(_simplified(rex, source), rex.type)


def _with_constant_windows(rel: Project) -> tuple[RexNode, ...]:
    """The projection's expressions with constants inside OVER calls.

    In the keys of windows only columns are replaced that are also read outside of them.  Source:
    ``ReduceExpressionsRule.ReducibleExprLocator``, which does not look into windows, and ``RexReplacer``, which does.
    """
    if not any(map(contains_over, rel.exprs)):
        return rel.exprs
    read = set().union(*map(_read_outside_windows, rel.exprs))
    known = {i: value for i, value in constants(rel.input).items() if i in read}
    return tuple(_substituted(e, known) if contains_over(e) else e for e in rel.exprs)


def _read_outside_windows(rex: RexNode) -> set[int]:
    if isinstance(rex, InputRef):
        return {rex.index}
    below = rex.operands if isinstance(rex, Over) else children(rex)
    return set().union(*map(_read_outside_windows, below))


def _simplified(rex: RexNode, source: Rel) -> RexNode:
    rex = push_into_cases(rex)
    if contains_over(rex):
        return simplify(rex)
    substituted = _substituted(rex, constants(source))
    return simplify(substituted, known_conditions(source)) if isinstance(substituted, Call) else substituted


def _substituted(rex: RexNode, known: Mapping[int, Literal]) -> RexNode:
    """The expression with constants in place of the columns that have one."""

    def substitute(node: RexNode) -> RexNode:
        if isinstance(node, InputRef) and node.index in known:
            literal = known[node.index]
            if literal.value is None:
                return Literal(None, node.type)
            typed = Literal(_value_as(literal, node.type), node.type.not_null())
            return cast(typed, node.type)
        if python_kind(node) is not None:
            assert isinstance(node, Call)
            return replace(node, operands=tuple(map(_without_nullability_cast, node.operands)))
        return node

    return rewrite(rex, substitute) if known else rex


def _without_nullability_cast(rex: RexNode) -> RexNode:
    """A literal in place of one that is only cast to be nullable: user functions take it as it is."""
    if is_call(rex, CAST) and isinstance(rex.operands[0], Literal) and rex.operands[0].type.same_as(rex.type):
        return rex.operands[0]
    return rex


@cached_on_record
def constants(rel: Rel) -> Mapping[int, Literal]:
    """The columns that have one constant value in every row, or NULL.

    Of those that may be NULL by their type an aggregation hands on NULL alone: below it Flink has put
    ``CAST(2 AS INTEGER)`` in the place of such a column, which its rules do not read as a constant.
    """
    if isinstance(rel, Aggregate) and rel.grouping_sets is None:
        below = constants(rel.input)
        known = {i: below[g] for i, g in enumerate(rel.grouping) if g in below}
        return {i: value for i, value in known.items() if value.value is None or not rel.types[i].nullable}
    return _constants(rel, constants)


@cached_on_record
def cast_constants(rel: Rel) -> Mapping[int, Literal]:
    """The same with those that are only cast to be nullable, which filters read as constants."""
    if isinstance(rel, Aggregate) and rel.grouping_sets is None:
        below = cast_constants(rel.input)
        return {i: below[g] for i, g in enumerate(rel.grouping) if g in below}
    if isinstance(rel, Project):
        rel = replace(rel, exprs=tuple(map(_without_nullability_cast, rel.exprs)))
    return _constants(rel, cast_constants)


def _constants(rel: Rel, below: Callable[[Rel], Mapping[int, Literal]]) -> Mapping[int, Literal]:
    """The constant columns of a relation but an aggregation, by those of the relations ``below`` it."""
    match rel:
        case Filter():
            known = {**below(rel.input), **_equalities(rel.condition)}
            compared = _compared(known_conditions(rel))
            return {i: value for i, value in known.items() if i not in compared}
        case Project():
            values = (below(rel.input).get(e.index) if isinstance(e, InputRef) else e for e in rel.exprs)
            return {i: value for i, value in enumerate(values) if isinstance(value, Literal)}
        case Join(type=JoinType.INNER):
            width = rel.left.width
            right = {i + width: v for i, v in below(rel.right).items()}
            known = {**below(rel.left), **right, **_equalities(rel.condition)}
            compared = _compared(known_conditions(rel))
            return {i: value for i, value in known.items() if i not in compared}
        case Join(type=JoinType.LEFT | JoinType.SEMI | JoinType.ANTI):
            return below(rel.left)
        case Join(type=JoinType.RIGHT):
            return {i + rel.left.width: value for i, value in below(rel.right).items()}
        case Sort():
            return below(rel.input)
        case SetOp(kind=SetKind.EXCEPT):  # casts to the common types are made after its predicates are read
            return cast_constants(rel.operands[0])
        case SetOp(kind=SetKind.UNION):
            first, *others = map(below, rel.operands)
            return {i: value for i, value in first.items() if all(other.get(i) == value for other in others)}
    return {}


def _compared(conditions: Iterable[RexNode]) -> set[int]:
    """The columns about which conditions say more than an equality; they are not replaced.

    Source: ``RexUtil.predicateConstants``.
    """
    return set().union(*(refs(c) for c in conditions if not is_call(c, EQ, IS_NULL)))


def _equalities(condition: RexNode) -> dict[int, Literal]:
    equal = {}
    for part in conjunctions(condition):
        if is_call(part, IS_NULL) and isinstance(part.operands[0], InputRef):
            column = part.operands[0]
            equal[column.index] = Literal(None, column.type)
        elif is_call(part, EQ):
            left, right = part.operands
            if isinstance(left, Literal):
                left, right = right, left
            left = _unwidened(left, right)
            if isinstance(left, InputRef) and isinstance(right, Literal) and _is_value_of(right, left.type):
                equal[left.index] = right
    return equal


def _unwidened(rex: RexNode, value: RexNode) -> RexNode:
    """The number or text that is compared as one of a wider type with a value that it may have.

    Source: ``RexUtil.gatherConstraints``.
    """
    if not (is_call(rex, CAST) and isinstance(value, Literal) and value.value is not None):
        return rex
    (operand,) = rex.operands
    if operand.type.root == rex.type.root == "DECIMAL" and value.type.root in (*INTEGERS, "DECIMAL"):
        return operand
    if (operand.type.root, rex.type.root, value.type.root) == ("FLOAT", "DOUBLE", "DOUBLE"):
        return operand
    if operand.type.root in CHARACTER and rex.type.root in CHARACTER:
        fits = len(value.value) <= (operand.type.length or 0) <= (rex.type.length or 0)
        return operand if fits and operand.type.root == "VARCHAR" else rex
    if not isinstance(value.value, int):
        return rex
    if operand.type.root not in INTEGERS or not is_lossless(operand.type, rex.type):
        return rex
    return operand if fits_integer(value.value, operand.type) else rex


def _value_as(literal: Literal, t: LogicalType) -> Any:
    """The value of a literal that a column of the type equals, as its literals write it."""
    if t.root == "DECIMAL" and literal.type.root in (*INTEGERS, "DECIMAL"):
        rounded = Decimal(str(literal.value)).quantize(Decimal(1).scaleb(-(t.scale or 0)), ROUND_HALF_UP)
        return format(rounded, "f")
    if t.root == "FLOAT" and literal.type.root in ("DECIMAL", "DOUBLE"):
        return Approximate(literal.value)
    if not are_text_and_number(literal.type, t):
        return literal.value
    if t.root in CHARACTER:
        return str(literal.value)
    return int(literal.value) if t.root in INTEGERS else str(Decimal(literal.value))


def _is_value_of(literal: Literal, t: LogicalType) -> bool:
    """Whether the literal can be written as one of the type; a text may be no number."""
    try:
        _value_as(literal, t)
    except (ValueError, ArithmeticError):
        return False
    return True


@rule(on=Aggregate, over=Project)
def pull_up_constants(rel: Aggregate, source: Project) -> Rel:
    """Constant grouping columns are removed from the grouping and added in a projection above."""
    if rel.grouping_sets is not None or len(rel.grouping) < 2:
        return rel
    below = {i: e for i, e in enumerate(source.exprs) if isinstance(e, Literal)}
    fixed = [i for i, g in enumerate(rel.grouping) if g in below]
    if not fixed:
        return rel
    constant = {i: below[rel.grouping[i]] for i in fixed}
    if len(fixed) == len(rel.grouping):
        fixed = fixed[1:]
    kept = [i for i in range(len(rel.grouping)) if i not in fixed]
    order = [*kept, *range(len(rel.grouping), rel.width)]
    inner = replace(rel, grouping=tuple(rel.grouping[i] for i in kept))
    inner = without_unread(inner, source)
    place = {old: new for new, old in enumerate(order)}
    exprs: list[RexNode] = []
    for i, t in enumerate(rel.types):
        exprs.append(constant[i] if i in constant else InputRef(place[i], t))
    return Project(input=inner, exprs=tuple(exprs), names=rel.names)

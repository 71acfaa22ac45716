"""Building and taking apart row expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import is_
from typing import TypeGuard

from ...plan.functions import Function, called, is_deterministic
from ...plan.functions.cast import CAST
from ...plan.functions.comparison import (
    AND,
    EQ,
    GE,
    GT,
    IS_FALSE,
    IS_NOT_FALSE,
    IS_NOT_NULL,
    IS_NOT_TRUE,
    IS_NULL,
    IS_TRUE,
    LE,
    LT,
    NE,
    NOT,
    OR,
    SEARCH,
)
from ...plan.functions.conditional import ALIAS, CASE
from ...plan.record import cached_on_record, replace
from ...plan.rex import Call, FieldAccess, InputRef, Literal, RexNode, Sarg, children, classes
from ...plan.types import BOOLEAN, LogicalType
from .unplanned import Over, SubQuery

COMPARISONS = (EQ, NE, LT, LE, GT, GE)
MIRRORED: dict[Function | None, Function] = {EQ: EQ, NE: NE, LT: GT, LE: GE, GT: LT, GE: LE}
NEGATED: dict[Function | None, Function] = {EQ: NE, NE: EQ, LT: GE, LE: GT, GT: LE, GE: LT}
NEGATED_TESTS: dict[Function | None, Function] = {
    IS_NULL: IS_NOT_NULL,
    IS_NOT_NULL: IS_NULL,
    IS_TRUE: IS_NOT_TRUE,
    IS_NOT_TRUE: IS_TRUE,
    IS_FALSE: IS_NOT_FALSE,
    IS_NOT_FALSE: IS_FALSE,
}

TRUE = Literal(True, BOOLEAN.not_null())
FALSE = Literal(False, BOOLEAN.not_null())
UNKNOWN = Literal(None, BOOLEAN)


def unaliased(rex: RexNode) -> RexNode:
    """The expression without the names that the Table API gives to it by calls of AS."""
    while is_call(rex, ALIAS):
        rex = rex.operands[0]
    return rex


def is_call(rex: RexNode, *functions: Function) -> TypeGuard[Call]:
    """Whether the expression calls one of the functions."""
    if type(rex) is Call:
        for function in functions:
            if rex.name == function.internal_name and rex.syntax == function.syntax:
                return True
    return False


def is_always_true(rex: RexNode) -> bool:
    return type(rex) is Literal and rex.value is True


def is_always_false(rex: RexNode) -> bool:
    return type(rex) is Literal and (rex.value is False or (rex.value is None and rex.type.root == "BOOLEAN"))


def flatten(junction: Function, rex: RexNode) -> tuple[RexNode, ...]:
    """The operands of nested calls of AND or OR."""
    if is_call(rex, junction):
        return tuple([part for operand in rex.operands for part in flatten(junction, operand)])
    return (rex,)


def conjunctions(rex: RexNode | None) -> tuple[RexNode, ...]:
    """The conditions that AND joins; none for TRUE."""
    if rex is None or is_always_true(rex):
        return ()
    return _conjunctions(rex) if is_call(rex, AND) else (rex,)


@cached_on_record
def _conjunctions(rex: Call) -> tuple[RexNode, ...]:
    return flatten(AND, rex)


def and_(parts: Iterable[RexNode]) -> RexNode:
    """The conjunction; TRUE where there are none."""
    return _junction(AND, [p for part in parts for p in conjunctions(part)], TRUE)


def or_(parts: Iterable[RexNode]) -> RexNode:
    """The disjunction; FALSE where there are none."""
    return _junction(OR, [p for part in parts for p in flatten(OR, part)], FALSE)


def _junction(junction: Function, parts: list[RexNode], empty: Literal) -> RexNode:
    unique = list(dict.fromkeys(parts))
    if len(unique) < 2:
        return unique[0] if unique else empty
    return junction.typed(_boolean(unique), *unique)


def _boolean(operands: Iterable[RexNode]) -> LogicalType:
    return BOOLEAN.with_nullability(any([o.type.nullable for o in operands]))


def compare(operator: Function, left: RexNode, right: RexNode) -> Call:
    """A comparison."""
    return operator.typed(_boolean((left, right)), left, right)


def not_(rex: RexNode) -> Call:
    return NOT.typed(rex.type, rex)


def test(asked: Function, rex: RexNode) -> Call:
    """A postfix test, such as ``rex IS NULL``."""
    return asked.typed(BOOLEAN.not_null(), rex)


def cast(rex: RexNode, to: LogicalType) -> RexNode:
    """A cast, or the expression itself where it already has the type."""
    return rex if rex.type == to else CAST.typed(to, rex)


def search(operand: RexNode, sarg: Sarg) -> Call:
    nullable = operand.type.nullable and sarg.null_as == "UNKNOWN"
    return SEARCH.typed(BOOLEAN.with_nullability(nullable), operand, sarg)


def case(operands: Iterable[RexNode], to: LogicalType) -> Call:
    return CASE.typed(to, *operands)


def rewrite(rex: RexNode, change: Callable[[RexNode], RexNode]) -> RexNode:
    """:func:`flinkplan.plan.rex.transform`, also through OVER calls and subqueries' operands."""
    if type(rex) is Call:
        operands = _rewritten(rex.operands, change)
        rex = rex if operands is rex.operands else replace(rex, operands=operands)
    elif type(rex) is FieldAccess:
        expr = rewrite(rex.expr, change)
        rex = rex if expr is rex.expr else replace(rex, expr=expr)
    elif type(rex) is SubQuery:
        rex = replace(rex, operands=_rewritten(rex.operands, change))
    elif type(rex) is Over:
        order = tuple((rewrite(o, change), up, last) for o, up, last in rex.order)
        operands, partition = _rewritten(rex.operands, change), _rewritten(rex.partition, change)
        rex = replace(rex, operands=operands, order=order, partition=partition)
    return change(rex)


def _rewritten(operands: tuple[RexNode, ...], change: Callable[[RexNode], RexNode]) -> tuple[RexNode, ...]:
    """The operands rewritten; the same tuple where they stay the same."""
    new = tuple([rewrite(o, change) for o in operands])
    return operands if all(map(is_, new, operands)) else new


def refs(rex: RexNode | None) -> frozenset[int]:
    """The input columns that an expression reads, also inside OVER calls."""
    if type(rex) is InputRef:
        return frozenset((rex.index,))
    return frozenset() if rex is None or type(rex) is Literal else _refs_within(rex)


@cached_on_record
def _refs_within(rex: RexNode) -> frozenset[int]:
    if type(rex) is Call or type(rex) is SubQuery:
        return frozenset().union(*map(refs, rex.operands))
    if type(rex) is FieldAccess:
        return refs(rex.expr)
    if type(rex) is Over:
        return frozenset().union(*map(refs, (*rex.operands, *rex.partition, *(o for o, _, _ in rex.order))))
    return frozenset()


def reads(exprs: Iterable[RexNode]) -> list[int]:
    """The input columns that the expressions read, in order and with repetitions."""
    indexes: list[int] = []

    def note(rex: RexNode) -> RexNode:
        if type(rex) is InputRef:
            indexes.append(rex.index)
        return rex

    for e in exprs:
        rewrite(e, note)
    return indexes


def ordered_refs(exprs: Iterable[RexNode]) -> tuple[int, ...]:
    """The input columns in the order in which the expressions first read them."""
    return tuple(dict.fromkeys(reads(exprs)))


def _each_column(rex: RexNode, change: Callable[[InputRef], RexNode]) -> RexNode:
    """The expression with each column reference changed; the same object where none changes."""

    def changed(node: RexNode) -> RexNode:
        if type(node) is not InputRef:
            return node
        new = change(node)
        return node if new == node else new

    return changed(rex) if type(rex) is InputRef else rewrite(rex, changed)


def remap(rex: RexNode, mapping: Mapping[int, int]) -> RexNode:
    """Renumber the input columns."""
    return _each_column(rex, lambda r: InputRef(mapping[r.index], r.type))


def shift(rex: RexNode, by: int) -> RexNode:
    """Add an offset to all input columns."""
    return _each_column(rex, lambda r: InputRef(r.index + by, r.type))


def inline(rex: RexNode, exprs: tuple[RexNode, ...]) -> RexNode:
    """Replace each input column by the expression that computes it."""
    return _each_column(rex, lambda r: exprs[r.index])


def retype(rex: RexNode, types: Sequence[LogicalType]) -> RexNode:
    """Give each column reference the type that its input now has."""
    return _each_column(rex, lambda r: InputRef(r.index, types[r.index]))


def derive_nullability(rex: RexNode) -> RexNode:
    """Derive the nullability of calls but casts from their operands."""

    def change(node: RexNode) -> RexNode:
        if not isinstance(node, Call) or is_call(node, CAST):
            return node
        if is_strict(node) or is_call(node, AND, OR):
            return replace(node, type=node.type.with_nullability(any(o.type.nullable for o in node.operands)))
        function = called(node)
        if function is None:
            return node
        return replace(node, type=node.type.with_nullability(function.call(*node.operands).type.nullable))

    return rewrite(rex, change)


def identity(types: Iterable[LogicalType]) -> tuple[InputRef, ...]:
    """References to columns of these types, all of a relation's."""
    return tuple([InputRef(i, t) for i, t in enumerate(types)])


def are_columns(exprs: Iterable[RexNode]) -> bool:
    """Whether expressions only select columns, and compute nothing."""
    return all(isinstance(e, InputRef) for e in exprs)


def are_identity(exprs: Sequence[RexNode], types: Sequence[LogicalType]) -> bool:
    """Whether expressions are the columns of a relation of these types, in order."""
    return len(exprs) == len(types) and all(
        [type(e) is InputRef and e.index == i and e.type == types[i] for i, e in enumerate(exprs)]
    )


def is_strict(rex: RexNode) -> bool:
    """Whether a call is NULL where an operand is, and only there."""
    function = called(rex)
    return function is not None and function.strict


def holds_time(rex: RexNode) -> bool:
    """Whether a time attribute stands anywhere in the expression."""
    return rex.type.is_time_attribute or (type(rex) is not InputRef and _holds_time_below(rex))


@cached_on_record
def _holds_time_below(rex: RexNode) -> bool:
    return any(map(holds_time, children(rex)))


def holds_subquery(rex: RexNode) -> bool:
    """Whether an expression reads a subquery."""
    return SubQuery in classes(rex)


def contains_over(rex: RexNode) -> bool:
    """Whether an OVER call stands anywhere in the expression."""
    return Over in classes(rex)


def can_inline(above: Iterable[RexNode], below: tuple[RexNode, ...]) -> bool:
    """Whether inlining would evaluate no non-deterministic expression more than once."""
    unstable = {i for i, e in enumerate(below) if not is_deterministic(e)}
    if not unstable:
        return True
    read = reads(above)
    return all(read.count(i) <= 1 for i in unstable)

"""Operators: arithmetic, comparison, logic, patterns, CASE."""

from __future__ import annotations

from collections.abc import Sequence

from ...advice import comparison_finding
from ...plan.functions import arithmetic, comparison, conditional, function_of, string
from ...plan.functions.cast import CAST
from ...plan.functions.collection import ROW
from ...plan.functions.model import POSTFIX, Function
from ...plan.functions.rules import comparable
from ...plan.functions.typing import in_family, is_interval, least_restrictive
from ...plan.rex import FieldAccess, Literal, RexNode, internal_name
from ...plan.types import BOOLEAN, CHARACTER, NULL, NUMERIC, LogicalType
from ..rex.builder import (
    compare_coerced,
    comparison_operands,
    conjunction,
    convert,
    disjunction,
    equality_operands,
    is_constant,
    is_null_literal,
    is_temporal_difference,
    null,
)
from ..rex.expressions import is_call, not_
from ..rex.sargs import search_of
from ..rex.written import record_list, records_lists
from ..sql import ast
from ..sql.source import Span
from .errors import BindError, unsupported
from .expressions import ExpressionBinder, binds
from .literals import qualifier_type
from .periods import PERIOD_OPERATORS, compare_periods

COMPARISONS: dict[str, Function] = {
    "=": comparison.EQ,
    "<>": comparison.NE,
    "<": comparison.LT,
    "<=": comparison.LE,
    ">": comparison.GT,
    ">=": comparison.GE,
}
_ARITHMETIC = {"*": arithmetic.TIMES, "/": arithmetic.DIVIDE, "%": arithmetic.MOD, "||": string.CONCAT_OPERATOR}


@binds(ast.Unary)
def _unary(binder: ExpressionBinder, node: ast.Unary) -> RexNode:
    if node.operator == "NOT":
        return not_(_logical(binder, node.operand))
    operand = binder.bind(node.operand)
    if node.operator == "+":
        if arithmetic.NEGATE.accept([operand.type]) is None:
            raise BindError(f"there is no + {_plain(operand.type)}", node.span, "leave the + out")
        return operand
    return _call(arithmetic.NEGATE, (operand,), node.span)


@binds(ast.Binary)
def _binary(binder: ExpressionBinder, node: ast.Binary) -> RexNode:
    if node.operator in ("AND", "OR"):
        return _junction(binder, node)
    if node.operator in PERIOD_OPERATORS:
        return compare_periods(binder, node, lambda start, length: _plus(start, length, node.span))
    left, right = binder.bind(node.left), binder.bind(node.right)
    if node.operator in COMPARISONS:
        if comparison.are_text_and_number(left.type, right.type):
            finding = comparison_finding(left.type, right.type, equality=node.operator in ("=", "<>"))
            binder.context.tell([finding], node.span)
        return comparison_of(node.operator, left, right, node.span)
    if node.operator == "+":
        return _plus(left, right, node.span)
    if node.operator == "-":
        return _minus(left, right, node.span)
    if node.operator == "*":
        return times(left, right, node.span)
    function = _ARITHMETIC.get(node.operator)
    if function is None:
        raise unsupported(f"the operator {node.operator}", node.span)
    return _call(function, (left, right), node.span)


def _junction(binder: ExpressionBinder, node: ast.Binary) -> RexNode:
    """AND or OR; a chain of one operator is bound without recursion and becomes one flat call."""
    parts: list[ast.Expression] = []
    current: ast.Expression = node
    while isinstance(current, ast.Binary) and current.operator == node.operator:
        parts.append(current.right)
        current = current.left
    parts.append(current)
    for part in parts:
        if isinstance(part, ast.NullLiteral):
            raise BindError(f"NULL alone has no type beside {node.operator}", part.span, "write CAST(NULL AS BOOLEAN)")
    operands = [_logical(binder, part) for part in reversed(parts)]
    return conjunction(operands) if node.operator == "AND" else disjunction(operands)


def _logical(binder: ExpressionBinder, node: ast.Expression) -> RexNode:
    rex = binder.bind(node)
    if rex.type.root == "NULL":
        return null(BOOLEAN)
    if rex.type.root != "BOOLEAN":
        raise BindError(f"AND, OR and NOT take conditions, but this is of type {rex.type}", node.span)
    return rex


def comparison_of(operator: str, left: RexNode, right: RexNode, span: Span) -> RexNode:
    """A comparison.  Raises :class:`BindError` if the types do not compare."""
    _check_comparable(operator, left, right, span)
    if operator == "=" and (fields := _paired_fields(left, right)):
        return conjunction([comparison.EQ.call(a, b) for a, b in fields])
    computed = operator in ("=", "<>") and is_constant(left) and is_constant(right)
    if computed and comparison.are_text_and_number(left.type, right.type):
        raise _not_converted(left.type, right.type, span)
    return compare_coerced(COMPARISONS[operator], *_typed_nulls((left, right)))


def check_join_keys(left: LogicalType, right: LogicalType, span: Span) -> None:
    """Raise :class:`BindError` for types that do not join: a text and anything else."""
    if not comparison.are_joinable(left, right):
        raise _not_converted(left, right, span)


def _not_converted(left: LogicalType, right: LogicalType, span: Span) -> BindError:
    return BindError(f"{_plain(left)} and {_plain(right)} are not converted implicitly", span, comparison.CAST_ONE_SIDE)


def _check_comparable(operator: str, left: RexNode, right: RexNode, span: Span) -> None:
    if not comparable(left.type, right.type):
        raise BindError(
            f"{_plain(left.type)} and {_plain(right.type)} cannot be compared with {operator}",
            span,
            comparison.CAST_ONE_SIDE,
        )


def _paired_fields(left: RexNode, right: RexNode) -> list[tuple[RexNode, RexNode]]:
    """The fields of two row constructors of one size, which are equal where the rows are; else none."""
    rows = [x.operands for x in (left, right) if is_call(x, ROW)]
    return list(zip(*rows, strict=True)) if len(rows) == 2 and len(rows[0]) == len(rows[1]) else []


def _typed_nulls(operands: Sequence[RexNode]) -> tuple[RexNode, ...]:
    """NULL takes the type of what it stands beside."""
    known = [o.type for o in operands if o.type.root != "NULL"]
    t = known[0] if known else BOOLEAN
    return tuple(null(t) if o.type.root == "NULL" else o for o in operands)


def _call(function: Function, operands: tuple[RexNode, ...], span: Span) -> RexNode:
    if function is not string.CONCAT_OPERATOR and any(o.type.root == "NULL" for o in operands):
        raise BindError("NULL alone has no type here", span, "write CAST(NULL AS INT), or another type")
    operands = _typed_nulls(operands)
    if function.accept([o.type for o in operands]) is None:
        types = f" {function.name} ".join(_plain(o.type) for o in operands)
        if len(operands) == 1:
            types = f"{function.name} {types}"
        raise BindError(f"there is no {types}", span, _operator_hint(operands))
    return function.call(*operands)


def _operator_hint(operands: Sequence[RexNode]) -> str | None:
    roots = {o.type.root for o in operands}
    if roots & {"CHAR", "VARCHAR"} and roots & set(NUMERIC):
        return "CAST the text to a number, or use || to join texts"
    if any(in_family(o.type, "DATETIME") for o in operands):
        return "add an INTERVAL to a time; subtract times with TIMESTAMPDIFF(SECOND, a, b)"
    return None


def _plain(t: LogicalType) -> str:
    return str(t.nullable_())


def times(left: RexNode, right: RexNode, span: Span) -> RexNode:
    """A product; of an interval too."""
    return _call(arithmetic.TIMES, (left, right), span)


def _plus(left: RexNode, right: RexNode, span: Span) -> RexNode:
    """A sum, or a time moved by an interval: the time comes first."""
    if is_interval(left.type) and in_family(right.type, "DATETIME"):
        left, right = right, left
    if in_family(left.type, "DATETIME") and is_interval(right.type):
        return moved(arithmetic.DATETIME_PLUS, arithmetic.PLUS, left, right)
    return _call(arithmetic.PLUS, (left, right), span)


def _minus(left: RexNode, right: RexNode, span: Span) -> RexNode:
    if in_family(left.type, "DATETIME") and is_interval(right.type):
        return moved(arithmetic.DATETIME_MINUS, arithmetic.MINUS, left, right)
    if is_temporal_difference(left.type, right.type):
        raise BindError(
            "a difference of two times needs a unit",
            span,
            "write TIMESTAMPDIFF(SECOND, from, to), with a unit of choice",
        )
    return _call(arithmetic.MINUS, (left, right), span)


def moved(special: Function, ordinary: Function, time: RexNode, interval: RexNode) -> RexNode:
    """A time plus or minus an interval.

    The type stays that of the time, a rowtime attribute included.  TIMESTAMP_LTZ takes the ordinary
    operator, as Calcite knows the special one for the other times only.
    """
    function = ordinary if time.type.root == "TIMESTAMP_LTZ" else special
    t = time.type.with_nullability(time.type.nullable or interval.type.nullable)
    return function.typed(t, time, interval)


@binds(ast.IntervalDifference)
def _difference(binder: ExpressionBinder, node: ast.IntervalDifference) -> RexNode:
    """``(a - b) DAY``: the time between, as an interval of that unit."""
    left, right = binder.bind(node.left), binder.bind(node.right)
    if not is_temporal_difference(left.type, right.type):
        raise BindError(
            f"the time between {_plain(right.type)} and {_plain(left.type)} means nothing",
            node.span,
            "subtract two times",
        )
    t = qualifier_type(node.qualifier).with_nullability(left.type.nullable or right.type.nullable)
    return arithmetic.DATETIME_MINUS.typed(t, left, right)


# ---------------------------------------------------------------- predicates

_SYNONYMS = {"IS UNKNOWN": "IS NULL", "IS NOT UNKNOWN": "IS NOT NULL"}


@binds(ast.IsPredicate)
def _is(binder: ExpressionBinder, node: ast.IsPredicate) -> RexNode:
    name = f"IS NOT {node.test}" if node.negated else f"IS {node.test}"
    name = _SYNONYMS.get(name, name)
    function = function_of(POSTFIX, internal_name(name))
    operand = binder.bind(node.operand)
    if function is None:
        raise unsupported(name, node.span)
    if function.accept([operand.type]) is None:
        raise BindError(f"{name} does not apply to {_plain(operand.type)}", node.span)
    return function.call(operand)


@binds(ast.IsDistinctFrom)
def _is_distinct(binder: ExpressionBinder, node: ast.IsDistinctFrom) -> RexNode:
    left, right = binder.bind(node.left), binder.bind(node.right)
    comparison_of("=", left, right, node.span)
    left, right = equality_operands(_typed_nulls((left, right)))
    if node.negated and binder.keeps_not_distinct:
        return comparison.IS_NOT_DISTINCT_FROM.call(left, right)
    return _distinctness(left, right, negated=node.negated)


def _distinctness(left: RexNode, right: RexNode, *, negated: bool) -> RexNode:
    """``left IS [NOT] DISTINCT FROM right``, spelled out as Calcite does."""
    equal = comparison.EQ.call(left, right)
    if negated:
        both_null = conjunction([comparison.IS_NULL.call(x) for x in (left, right)])
        return disjunction([both_null, comparison.IS_TRUE.call(equal)])
    one_known = disjunction([comparison.IS_NOT_NULL.call(x) for x in (left, right)])
    return conjunction([one_known, comparison.IS_NOT_TRUE.call(equal)])


@binds(ast.Between)
def _between(binder: ExpressionBinder, node: ast.Between) -> RexNode:
    operand, low, high = (binder.bind(x) for x in (node.operand, node.low, node.high))
    for bound in (low, high):
        comparison_of(">=", operand, bound, node.span)
    operand, low, high = comparison_operands(_typed_nulls((operand, low, high)))
    inside = _within(operand, low, high)
    if node.symmetric:
        inside = disjunction([inside, _within(operand, high, low)])
    return not_(inside) if node.negated else inside


def _within(operand: RexNode, low: RexNode, high: RexNode) -> RexNode:
    return conjunction([comparison.GE.call(operand, low), comparison.LE.call(operand, high)])


@binds(ast.InList)
def _in_list(binder: ExpressionBinder, node: ast.InList) -> RexNode:
    """IN is an OR of comparisons; a query searches literals, which a table's schema spells out."""
    operand = binder.bind(node.operand)
    items = [binder.bind(item) for item in node.items]
    literals = all(isinstance(i, Literal) and i.value is not None for i in items)
    if literals and len(items) > 1 and not binder.keeps_as_written:
        parts = members(_without_nullable_cast(operand), items, "<>" if node.negated else "=", node.span)
        search = search_of(parts, every=node.negated)
        if records_lists():
            is_member = disjunction(members(operand, items, "=", node.span))
            record_list(search, comparison.NOT.call(is_member) if node.negated else is_member)
        return search
    is_member = disjunction(members(operand, items, "=", node.span))
    return not_(is_member) if node.negated else is_member


def _without_nullable_cast(operand: RexNode) -> RexNode:
    """The field below a cast that only makes it nullable: comparisons read the field itself."""
    if not is_call(operand, CAST) or not isinstance(operand.operands[0], FieldAccess):
        return operand
    return operand.operands[0] if operand.operands[0].type.nullable_() == operand.type else operand


def members(operand: RexNode, items: Sequence[RexNode], operator: str, span: Span) -> list[RexNode]:
    """The operand compared with each item; the items take the type of the operand."""
    for item in items:
        _check_comparable(operator, operand, item, span)
    known = [i.type for i in items if i.type.root != "NULL"]
    common = least_restrictive(known) if known else operand.type
    if common is None:
        types = ", ".join(dict.fromkeys(_plain(t) for t in known))
        raise BindError(f"the values of this list have no common type: {types}", span, "CAST them to one type")
    if operand.type.root != "ROW":
        t = common if common.root in CHARACTER and operand.type.root in CHARACTER else operand.type
        items = [_as_member(i, t) for i in items]
    return [_member(operand, item, operator) for item in items]


def _as_member(item: RexNode, t: LogicalType) -> RexNode:
    """An item with the operand's type, unless it is of the same kind, whatever its precision."""
    if item.type.root in (t.root, "NULL") or {item.type.root, t.root} <= {*CHARACTER}:
        return item
    return convert(t.with_nullability(item.type.nullable), item)


def _member(operand: RexNode, item: RexNode, operator: str) -> RexNode:
    if operator == "=" and (fields := _paired_fields(operand, item)):
        return conjunction([comparison.EQ.call(a, _as_member(b, a.type)) for a, b in fields])
    return COMPARISONS[operator].call(operand, null(operand.type) if item.type.root == "NULL" else item)


@binds(ast.Like)
def _like(binder: ExpressionBinder, node: ast.Like) -> RexNode:
    function = comparison.SIMILAR_TO if node.similar else comparison.LIKE
    nodes = [node.operand, node.pattern, *([node.escape] if node.escape else [])]
    operands = _typed_nulls([binder.bind(n) for n in nodes])
    if function.accept([o.type for o in operands]) is None:
        wrong = next(o for o in operands if not in_family(o.type, "CHARACTER"))
        raise BindError(
            f"{function.name} compares texts, but this is of type {_plain(wrong.type)}",
            node.span,
            "CAST it to STRING first",
        )
    matched = function.call(*operands)
    return not_(matched) if node.negated else matched


@binds(ast.Case)
def _case(binder: ExpressionBinder, node: ast.Case) -> RexNode:
    """CASE with an operand compares it with each branch; all values get the common type."""
    subject = binder.bind(node.operand) if node.operand is not None else None
    conditions, values = [], []
    for branch in node.branches:
        if subject is None:
            conditions.append(_logical(binder, branch.condition))
        else:
            conditions.append(comparison_of("=", subject, binder.bind(branch.condition), branch.condition.span))
        values.append(binder.bind(branch.result))
    values.append(Literal(None, NULL) if node.otherwise is None else binder.bind(node.otherwise))
    return case(conditions, values, node.span)


def case(conditions: Sequence[RexNode], values: Sequence[RexNode], span: Span) -> RexNode:
    """``CASE WHEN condition THEN value … ELSE value END``; there is one value more than conditions."""
    tested = [_is_tested(c, v) for c, v in zip(conditions, values, strict=False)]
    certain = [v.type.not_null() if t else v.type for v, t in zip(values, [*tested, False], strict=True)]
    common = least_restrictive(certain)
    if common is None or common.root == "NULL":
        types = ", ".join(dict.fromkeys(_plain(v.type) for v in values if not is_null_literal(v)))
        raise BindError(
            f"the branches of this CASE have no common type: {types or 'all are NULL'}",
            span,
            "CAST the branches to one type",
        )
    typed = [
        v if v.type.same_as(common) and (v.type.nullable <= common.nullable) else convert(common, v) for v in values
    ]
    operands = [x for pair in zip(conditions, typed[:-1], strict=True) for x in pair]
    return conditional.CASE.typed(common, *operands, typed[-1])


def _is_tested(condition: RexNode, value: RexNode) -> bool:
    """Whether the condition is that the value is not NULL.  Source: ``SqlCaseOperator``."""
    return is_call(condition, comparison.IS_NOT_NULL) and condition.operands == (value,)

"""Subqueries in expressions."""

from __future__ import annotations

from ...plan.record import replace
from ...plan.rex import Call, InputRef, RexNode
from ...plan.types import BOOLEAN
from ..algebra.logical import Project
from ..algebra.rel import Rel
from ..rex.builder import conjunction, disjunction
from ..rex.expressions import not_
from ..rex.unplanned import SubQuery, SubQueryKind
from ..sql import ast
from .errors import BindError, unsupported
from .expressions import ExpressionBinder, binds
from .nested import bind_inner_query
from .operators import COMPARISONS, check_join_keys, comparison_of, members

_INVERSE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def _query(binder: ExpressionBinder, query: ast.Query) -> tuple[Rel, str | None]:
    """The subquery's relation, and the variable by which it reads the outer row, if it does."""
    scope = binder.scope
    inside = replace(scope, new_correlation=binder.context.correlations.next, correl="", grouping=binder.grouping)
    rel = bind_inner_query(binder.context, query, inside)
    return rel, inside.correl or None


def _single_column(rel: Rel, query: ast.Query) -> None:
    width = rel.width
    if width != 1:
        raise BindError(f"this subquery gives {width} columns, one is needed", query.span)


@binds(ast.InQuery)
def _in_query(binder: ExpressionBinder, node: ast.InQuery) -> RexNode:
    operand = binder.bind(node.operand)
    is_row = isinstance(node.operand, ast.RowConstructor) and len(node.operand.items) > 1
    operands = operand.operands if is_row and isinstance(operand, Call) else (operand,)
    rel, correl = _query(binder, node.query)
    fields = rel.row_type.fields
    if len(fields) != len(operands):
        raise BindError(f"IN compares {len(operands)} values with {len(fields)} columns", node.query.span)
    for o, f in zip(operands, fields, strict=True):
        comparison_of("=", o, InputRef(0, f.type), node.span)
        if not node.negated:
            check_join_keys(o.type, f.type, node.span)
    nullable = any(o.type.nullable for o in operands) or any(f.type.nullable for f in fields)
    subquery = SubQuery(SubQueryKind.IN, rel, tuple(operands), BOOLEAN.with_nullability(nullable), correl)
    return not_(subquery) if node.negated else subquery


@binds(ast.Exists)
def _exists(binder: ExpressionBinder, node: ast.Exists) -> RexNode:
    rel, correl = _query(binder, node.query)
    while isinstance(rel, Project):
        rel = rel.input
    return SubQuery(SubQueryKind.EXISTS, rel, (), BOOLEAN.not_null(), correl)


@binds(ast.SubQuery)
def _scalar(binder: ExpressionBinder, node: ast.SubQuery) -> RexNode:
    rel, correl = _query(binder, node.query)
    _single_column(rel, node.query)
    t = rel.types[0].regular().nullable_()
    return SubQuery(SubQueryKind.SCALAR, rel, (), t, correl)


def _quantified_query(binder: ExpressionBinder, node: ast.Quantified) -> RexNode:
    """``x op ANY (SELECT …)``; ALL is the negation of ANY with the opposite comparison."""
    assert node.query is not None
    operand = binder.bind(node.left)
    rel, correl = _query(binder, node.query)
    _single_column(rel, node.query)
    column = rel.types[0]
    t = BOOLEAN.with_nullability(operand.type.nullable or column.nullable)
    every = node.quantifier == "ALL"
    operator = _INVERSE[node.operator] if every else node.operator
    if operator == "=":
        check_join_keys(operand.type, column, node.span)
        subquery = SubQuery(SubQueryKind.IN, rel, (operand,), t, correl)
    else:
        subquery = SubQuery(SubQueryKind.SOME, rel, (operand,), t, correl, COMPARISONS[operator])
    return not_(subquery) if every else subquery


@binds(ast.Quantified)
def _quantified(binder: ExpressionBinder, node: ast.Quantified) -> RexNode:
    if node.query is not None:
        return _quantified_query(binder, node)
    items = [binder.bind(item) for item in node.items]
    parts = members(binder.bind(node.left), items, node.operator, node.span)
    return conjunction(parts) if node.quantifier == "ALL" else disjunction(parts)


@binds(ast.CollectionQuery)
def _collection(binder: ExpressionBinder, node: ast.CollectionQuery) -> RexNode:
    raise unsupported(f"{node.kind}(SELECT …)", node.span, "use ARRAY_AGG in a subquery")

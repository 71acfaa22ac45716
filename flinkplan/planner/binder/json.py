"""The JSON functions with a syntax of their own."""

from __future__ import annotations

from ...plan.functions import json
from ...plan.functions.model import Function
from ...plan.functions.typing import in_family
from ...plan.rex import RexNode
from ...plan.types import STRING
from ..rex.builder import symbol
from ..sql import ast
from ..sql.source import Span
from .datatypes import resolve_type
from .errors import BindError, untyped_null
from .expressions import ExpressionBinder, binds

_WRAPPERS = {
    None: "WITHOUT_ARRAY",
    "WITHOUT": "WITHOUT_ARRAY",
    "CONDITIONAL": "CONDITIONAL_ARRAY",
    "UNCONDITIONAL": "WITH_UNCONDITIONAL_ARRAY",
}


_RETURNING = {
    "JSON_VALUE": ("VARCHAR", "CHAR", "BOOLEAN", "INT", "DOUBLE"),
    "JSON_QUERY": ("VARCHAR", "CHAR", "ARRAY"),
}
"""The types that RETURNING may name."""


def _operands(binder: ExpressionBinder, operand: ast.Expression, path: ast.Expression) -> tuple[RexNode, RexNode]:
    bound = binder.bind(operand), binder.bind(path)
    for rex, node in zip(bound, (operand, path), strict=True):
        if not in_family(rex.type, "CHARACTER"):
            raise BindError(f"JSON and its path are texts, but this is of type {rex.type.nullable_()}", node.span)
    return bound


@binds(ast.JsonValue)
def _json_value(binder: ExpressionBinder, node: ast.JsonValue) -> RexNode:
    operands: list[RexNode] = list(_operands(binder, node.operand, node.path))
    for behavior, when in ((node.on_empty, "EMPTY"), (node.on_error, "ERROR")):
        if behavior is None:
            continue
        operands.append(symbol("JSON_VALUE_ON_EMPTY_OR_ERROR", behavior.kind))
        if behavior.value is not None:
            operands.append(binder.bind(behavior.value))
        operands.append(symbol("JSON_EMPTY_OR_ERROR", when))
    return _returning(json.JSON_VALUE, operands, node.returning)


def _returning(function: Function, operands: list[RexNode], node: ast.DataType | None) -> RexNode:
    t = STRING if node is None else resolve_type(node).nullable_()
    allowed = _RETURNING[function.name]
    if node is not None and t.root not in allowed:
        raise BindError(
            f"{function.name} cannot return {t}", node.span, f"it returns {', '.join(allowed)}; CAST the result"
        )
    return function.typed(t, *operands)


@binds(ast.JsonQuery)
def _json_query(binder: ExpressionBinder, node: ast.JsonQuery) -> RexNode:
    behaviors = [
        symbol("JSON_QUERY_ON_EMPTY_OR_ERROR", behavior.kind.replace(" ", "_") if behavior is not None else "NULL")
        for behavior in (node.on_empty, node.on_error)
    ]
    operands = [*_operands(binder, node.operand, node.path), symbol("JSON_QUERY_WRAPPER", _WRAPPERS[node.wrapper])]
    return _returning(json.JSON_QUERY, [*operands, *behaviors], node.returning)


@binds(ast.JsonExists)
def _json_exists(binder: ExpressionBinder, node: ast.JsonExists) -> RexNode:
    operands: list[RexNode] = list(_operands(binder, node.operand, node.path))
    if node.on_error is not None:
        operands.append(symbol("JSON_EXISTS_ON_ERROR", node.on_error))
    return json.JSON_EXISTS.call(*operands)


@binds(ast.JsonObject)
def _json_object(binder: ExpressionBinder, node: ast.JsonObject) -> RexNode:
    operands: list[RexNode] = [symbol("JSON_ON_NULL", node.on_null or "NULL")]
    for entry in node.entries:
        key = binder.bind(entry.key)
        _check_key(key, entry.key.span)
        operands += [key, _value(binder, entry.value)]
    return json.JSON_OBJECT.call(*operands)


def _check_key(key: RexNode, span: Span) -> None:
    if not in_family(key.type, "CHARACTER"):
        raise BindError(f"a key of JSON_OBJECT is a text, not {key.type.nullable_()}", span)


@binds(ast.JsonArray)
def _json_array(binder: ExpressionBinder, node: ast.JsonArray) -> RexNode:
    items = (_value(binder, item) for item in node.items)
    return json.JSON_ARRAY.call(symbol("JSON_ON_NULL", node.on_null or "ABSENT"), *items)


def _value(binder: ExpressionBinder, node: ast.Expression) -> RexNode:
    value = binder.bind(node)
    if value.type.root == "NULL":
        raise untyped_null(node.span)
    return value

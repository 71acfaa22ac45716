"""Calls that read JSON: the options of the Table API as clauses of SQL."""

from __future__ import annotations

from typing import Any, Protocol

from ..plan.rex import RexNode
from ..planner.sql import ast
from .expression import JsonExistsOnError
from .literals import literal


class Resolves(Protocol):
    """What makes rows expressions of those of the Table API, and of those of SQL."""

    def rex(self, value: Any) -> RexNode:
        """Of an expression of the Table API."""

    def bind(self, expression: ast.Expression) -> RexNode:
        """Of one of SQL."""


def is_json(resolver: Resolves, operand: Any, json_type: Any) -> RexNode:
    return resolver.bind(ast.IsPredicate(ast.BoundExpression(resolver.rex(operand)), f"JSON {json_type.value}"))


def json_exists(resolver: Resolves, operand: Any, path: str, on_error: JsonExistsOnError | None) -> RexNode:
    bound = ast.BoundExpression(resolver.rex(operand))
    return resolver.bind(ast.JsonExists(bound, ast.StringLiteral(path), on_error.value if on_error else None))


def json_value(
    resolver: Resolves,
    operand: Any,
    path: str,
    returning: Any,
    on_empty: Any,
    if_empty: Any,
    on_error: Any,
    if_error: Any,
) -> RexNode:
    from ..planner.sql import parse_data_type

    def behavior(kind: Any, value: Any) -> ast.JsonBehavior:
        return ast.JsonBehavior(kind.value, None if value is None else ast.BoundExpression(literal(value)))

    bound = ast.BoundExpression(resolver.rex(operand))
    data_type = parse_data_type(str(returning)) if returning is not None else None
    behaviors = (behavior(on_empty, if_empty), behavior(on_error, if_error))
    return resolver.bind(ast.JsonValue(bound, ast.StringLiteral(path), data_type, *behaviors))


def json_query(resolver: Resolves, operand: Any, path: str, wrapper: Any, on_empty: Any, on_error: Any) -> RexNode:
    bound = ast.BoundExpression(resolver.rex(operand))
    behaviors = (ast.JsonBehavior(b.value) for b in (on_empty, on_error))
    return resolver.bind(ast.JsonQuery(bound, ast.StringLiteral(path), None, wrapper.value, *behaviors))

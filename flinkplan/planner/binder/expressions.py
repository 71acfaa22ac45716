"""Binding expressions: from the syntax tree to typed row expressions.

Each kind of node has a function registered by :func:`binds`; the modules that register them are listed in
``binder/__init__``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ...plan.functions import Function
from ...plan.rex import RexNode
from ...plan.types import BOOLEAN, LogicalType
from ..rex.builder import is_null_literal, null
from ..sql import ast
from .context import Context
from .errors import BindError, unsupported
from .scope import Scope

N = TypeVar("N", bound=ast.Node)
Bound = TypeVar("Bound", bound=Callable[..., RexNode])

_binders: dict[type[ast.Node], Callable[[ExpressionBinder, Any], RexNode]] = {}


def binds(node_type: type[N]) -> Callable[[Bound], Bound]:
    """Register the function that binds nodes of a type."""

    def register(function: Bound) -> Bound:
        _binders[node_type] = function
        return function

    return register


class ExpressionBinder:
    """Binds expressions over the columns of a scope.

    Subclasses give aggregate functions and OVER a meaning; here they are errors.  ``place`` names the clause
    for messages.
    """

    def __init__(self, context: Context, scope: Scope, place: str = "this clause") -> None:
        self.context = context
        self.scope = scope
        self.place = place
        self.keeps_not_distinct = False
        """Whether IS NOT DISTINCT FROM stays one call, as in a join condition, where it may be a key."""
        self.keeps_as_written = False
        """Whether IN with literals becomes no search, and CAST to the type that a value has is kept, as in a table."""

    @property
    def grouping(self) -> Sequence[RexNode] | None:
        """The grouping expressions, if rows are grouped."""
        return None

    def bind(self, node: ast.Expression) -> RexNode:
        """The row expression of a node.  Raises :class:`BindError` or ``UnsupportedError``."""
        function = _binders.get(type(node))
        if function is None:
            raise unsupported(f"this kind of expression ({type(node).__name__})", node.span)
        return function(self, node)

    def bind_all(self, nodes: tuple[ast.Expression, ...]) -> tuple[RexNode, ...]:
        return tuple(self.bind(node) for node in nodes)

    def column(self, node: ast.ColumnRef) -> RexNode:
        """A reference to a column."""
        return self.scope.resolve(node.parts)

    def aggregate(self, node: ast.FunctionCall, function: Function) -> RexNode:
        """A call of an aggregate function."""
        raise BindError(
            f"the aggregate function {function.name} cannot be used in {self.place}",
            node.span,
            "aggregate in SELECT or HAVING, or in a subquery",
        )

    def over(self, node: ast.FunctionCall) -> RexNode:
        """A call with OVER."""
        raise BindError(
            f"a window function cannot be used in {self.place}",
            node.span,
            "compute it in a subquery and filter by it outside",
        )

    def group_window(self, node: ast.FunctionCall) -> RexNode:
        """A group window function, or one of its auxiliaries such as TUMBLE_START."""
        raise BindError(
            f"{node.name} can be used only with GROUP BY {str(node.name).split('_')[0].upper()}(…)", node.span
        )

    def condition(self, node: ast.Expression) -> RexNode:
        """A BOOLEAN expression."""
        rex = self.bind(node)
        if is_null_literal(rex) and rex.type.root == "NULL":
            return null(BOOLEAN)
        if rex.type.root != "BOOLEAN":
            raise BindError(
                f"{self.place} needs a condition, but this is of type {rex.type}", node.span, _condition_hint(rex.type)
            )
        return rex


def _condition_hint(t: LogicalType) -> str:
    return "compare it with something, such as … = 1" if t.root != "VARCHAR" else "compare it with something"


@binds(ast.ColumnRef)
def _column(binder: ExpressionBinder, node: ast.ColumnRef) -> RexNode:
    return binder.column(node)


@binds(ast.BoundExpression)
def _bound(binder: ExpressionBinder, node: ast.BoundExpression) -> RexNode:
    rex: RexNode = node.rex
    return rex

"""The place of a planning error in its statement."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..plan.errors import FlinkplanError
from .errors import Part, PlanningError
from .sql import ast
from .sql.source import Span


def place_of(insert: ast.Insert, error: FlinkplanError) -> Span:
    """The part of an INSERT that an error is about; INSERT and its table if there is none, or several."""
    if isinstance(error, PlanningError) and error.part is not None:
        if error.part is Part.SINK:
            return insert.table.span
        is_it = _IS_PART[error.part]
        spans = {node.span for node in insert.query.walk() if is_it(node, error.name)}
        if len(spans) == 1:
            return spans.pop()
    return insert.span.to(insert.table.span)


def _is_temporal(node: ast.Node, name: str) -> bool:
    return isinstance(node, ast.TableRef) and node.system_time is not None


def _is_function(node: ast.Node, name: str) -> bool:
    return isinstance(node, ast.FunctionCall) and str(node.name).upper() == name.upper()


def _is_over(node: ast.Node, name: str) -> bool:
    return isinstance(node, ast.FunctionCall) and node.over is not None


def _is_sorted(node: ast.Node, name: str) -> bool:
    return isinstance(node, ast.SortItem)


_IS_PART: Mapping[Part, Callable[[ast.Node, str], bool]] = {
    Part.TEMPORAL_JOIN: _is_temporal,
    Part.FUNCTION: _is_function,
    Part.OVER: _is_over,
    Part.ORDER_BY: _is_sorted,
}

"""Window functions: calls with OVER."""

from __future__ import annotations

from collections.abc import Mapping

from ...plan.findings import did_you_mean
from ...plan.functions import Function, Kind, comparison, conditional
from ...plan.functions.aggregate import AVG, COUNT, FIRST_VALUE, LAST_VALUE, MAX, MIN, SHIFTS, SUM, SUM0
from ...plan.functions.model import Arguments
from ...plan.record import replace
from ...plan.rex import Literal, RexNode
from ...plan.types import BIGINT, LogicalType
from ..rex.builder import integer, null
from ..rex.expressions import holds_subquery
from ..rex.unplanned import Over
from ..sql import ast
from .averages import average, variance
from .calls import check_null_treatment, fit
from .context import Context
from .errors import BindError, unsupported
from .expressions import ExpressionBinder
from .frames import bind_frame
from .scope import Scope


class WindowedBinder(ExpressionBinder):
    """Binds expressions in which window functions may stand: a select list, QUALIFY, ORDER BY."""

    def __init__(self, context: Context, scope: Scope, windows: Mapping[str, ast.WindowSpec]) -> None:
        super().__init__(context, scope, "SELECT")
        self.windows = windows

    def over(self, node: ast.FunctionCall) -> RexNode:
        return bind_over(self, node, self.windows)

    def star_column(self, rex: RexNode, name: str) -> RexNode:
        """A column that a star brought."""
        return rex


def bind_over(binder: ExpressionBinder, node: ast.FunctionCall, windows: Mapping[str, ast.WindowSpec]) -> RexNode:
    """A window function.

    A SUM that may be NULL becomes a sum that is NULL where nothing was counted, AVG a quotient and a variance a term of
    sums, as Calcite's ``AvgVarianceConvertlet`` expands them.
    """
    function = binder.context.function(node.name)
    if function is None or function.kind not in (Kind.AGGREGATE, Kind.RANKING):
        raise BindError(f"{node.name} is not a window function", node.name.span)
    if node.filter is not None:
        raise unsupported("FILTER with OVER", node.filter.span, "put the condition into a CASE inside the aggregate")
    check_null_treatment(function, node)
    star = function is COUNT and any(isinstance(a, ast.Star) for a in node.args)
    operands = () if star else fit(function, binder.bind_all(node.args), node.span)
    assert node.over is not None
    spec = _window(node.over, windows)
    window = _over(binder, function, operands, spec, node)
    if function is SUM:
        return _sum(window)
    if function is AVG:
        return average(window.type, _sum(_as(window, SUM, operands)), _count(window))
    if kind := function.aggregation.variance:
        return variance(window.type, operands[0], lambda each, rex: _part(window, each, rex), *kind)
    return window


def _window(over: ast.WindowSpec | ast.Identifier, windows: Mapping[str, ast.WindowSpec]) -> ast.WindowSpec:
    if isinstance(over, ast.WindowSpec) and over.base is None:
        return over
    name = over if isinstance(over, ast.Identifier) else over.base
    assert name is not None
    if name.name not in windows:
        raise BindError(f"there is no window '{name.name}'", name.span, did_you_mean(name.name, windows))
    base = _window(windows[name.name], windows)
    if isinstance(over, ast.Identifier):
        return base
    return replace(
        over,
        base=None,
        partition_by=over.partition_by or base.partition_by,
        order_by=over.order_by or base.order_by,
        frame=over.frame or base.frame,
    )


def _over(
    binder: ExpressionBinder,
    function: Function,
    operands: tuple[RexNode, ...],
    spec: ast.WindowSpec,
    node: ast.FunctionCall,
) -> Over:
    is_rank = function.kind is Kind.RANKING and function not in SHIFTS
    if function.kind is Kind.RANKING:
        if not spec.order_by:
            raise BindError(f"{function.name} needs an ORDER BY in its OVER clause", node.span)
        if spec.frame is not None:
            raise BindError(f"{function.name} takes no ROWS or RANGE", spec.frame.span)
    order = _order(binder, spec)
    if is_rank and all(isinstance(rex, Literal) for rex, *_ in order):
        raise BindError(f"{function.name} is ordered by nothing but constants", node.span, "order it by a column")
    frame = bind_frame(binder, function, spec, [rex.type for rex, *_ in order])
    arguments = Arguments(tuple(o.type for o in operands), operands, grouped=frame.is_never_empty)
    return Over(
        function=function,
        operands=operands,
        type=over_type(function, arguments),
        partition=tuple(dict.fromkeys(_without_subquery(binder, e) for e in spec.partition_by)),
        order=order,
        frame=frame,
        distinct=node.distinct and not function.aggregation.ignores_duplicates,
        ignore_nulls=bool(node.ignore_nulls),
    )


def _order(binder: ExpressionBinder, spec: ast.WindowSpec) -> tuple[tuple[RexNode, bool, bool], ...]:
    """What OVER orders by, each expression once."""
    order: dict[RexNode, tuple[RexNode, bool, bool]] = {}
    for item in spec.order_by:
        rex = _without_subquery(binder, item.expression)
        order.setdefault(rex, (rex, not item.descending, item.nulls_last))
    return tuple(order.values())


def _without_subquery(binder: ExpressionBinder, node: ast.Expression) -> RexNode:
    """An expression by which OVER divides or orders rows, where Flink's parser takes no subquery."""
    rex = binder.bind(node)
    if holds_subquery(rex):
        raise BindError("OVER takes no subquery", node.span, "join its rows, and name the column")
    return rex


def over_type(function: Function, arguments: Arguments) -> LogicalType:
    """The type of a call with OVER: of one that returns an argument, the time attribute that this may be."""
    result = function.returns(arguments).regular()
    first = arguments.types[0] if arguments.types else None
    if first is None or not first.is_time_attribute or function not in _RETURNS_ARGUMENT:
        return result
    return replace(result, kind=first.kind)


_RETURNS_ARGUMENT = (MIN, MAX, FIRST_VALUE, LAST_VALUE, *SHIFTS)


def _as(window: Over, function: Function, operands: tuple[RexNode, ...]) -> Over:
    """The window with another function."""
    arguments = Arguments(tuple(o.type for o in operands), operands, grouped=window.frame.is_never_empty)
    return replace(window, function=function, operands=operands, type=over_type(function, arguments))


def _count(window: Over) -> RexNode:
    return _as(window, COUNT, window.operands)


def _sum(window: Over) -> RexNode:
    """``CASE WHEN COUNT(x) > 0 THEN $SUM0(x) ELSE NULL END``; the SUM itself where it is never NULL."""
    if not window.type.nullable:
        return window
    counted = comparison.GT.call(_count(window), integer(0, BIGINT))
    total = _as(window, SUM0, window.operands)
    return conditional.CASE.typed(window.type, counted, total, null(window.type))


def _part(window: Over, function: Function, operand: RexNode) -> RexNode:
    """SUM or COUNT of another operand."""
    part = _as(window, function, (operand,))
    return _sum(part) if function is SUM else part

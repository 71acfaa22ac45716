"""ROWS and RANGE of OVER windows.  Source: Calcite's ``SqlWindow``, Flink's ``FlinkCalciteSqlValidator``."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from ...plan.functions import Function, Kind
from ...plan.functions.aggregate import ROW_NUMBER
from ...plan.functions.typing import is_interval, is_year_month
from ...plan.rex import Call, Literal, RexNode
from ...plan.types import APPROXIMATE, DATETIME, NUMERIC, LogicalType
from ..rex.builder import is_constant
from ..rex.expressions import rewrite
from ..rex.folding import fold
from ..rex.unplanned import Frame
from ..sql import ast
from ..sql.source import Span
from .errors import BindError
from .expressions import ExpressionBinder

_ENDS_BEFORE = {"CURRENT ROW": ("PRECEDING",), "FOLLOWING": ("PRECEDING", "CURRENT ROW")}
"""By where a frame begins: where it cannot end."""


def bind_frame(
    binder: ExpressionBinder, function: Function, spec: ast.WindowSpec, order: Sequence[LogicalType]
) -> Frame:
    """The frame of a call whose window is ordered by columns of these types.

    Raises :class:`BindError` if the frame begins after its end, or a bound is not what ROWS or RANGE takes.
    """
    if function.kind is Kind.RANKING:
        return Frame(is_rows=function is ROW_NUMBER, lower=None, upper=0)
    if spec.frame is None:
        return Frame(is_rows=False, lower=None, upper=0 if spec.order_by else None)
    start, end = spec.frame.start, spec.frame.end or ast.FrameBound("CURRENT ROW")
    if start.kind == "UNBOUNDED FOLLOWING" or end.kind == "UNBOUNDED PRECEDING":
        raise BindError("a frame begins behind all rows, or ends before them", spec.frame.span)
    if spec.frame.end is not None and end.kind in _ENDS_BEFORE.get(start.kind, ()):
        raise BindError("a frame begins after it ends", spec.frame.span, "swap its bounds")
    is_rows = spec.frame.unit == "ROWS"
    if not is_rows and len(order) > 1:
        raise BindError("RANGE takes an ORDER BY of one column", spec.frame.span, "use ROWS")
    lower, upper = (_bound(binder, bound, None if is_rows else order) for bound in (start, end))
    return Frame(
        is_rows=is_rows and (lower is not None or upper is not None),
        lower=lower,
        upper=upper,
        lower_is_preceding=start.kind != "FOLLOWING",
        upper_is_preceding=end.kind == "PRECEDING",
    )


def _bound(
    binder: ExpressionBinder, bound: ast.FrameBound, order: Sequence[LogicalType] | None
) -> RexNode | int | None:
    """The bound of a frame; ``order`` are the types of ORDER BY for RANGE."""
    if bound.offset is None:
        return 0 if bound.kind == "CURRENT ROW" else None
    rex = binder.bind(bound.offset)
    if not is_constant(rex):
        raise BindError("a bound of ROWS or RANGE is a constant", bound.offset.span)
    _check_type(rex.type, order, bound.offset.span)
    value = rewrite(rex, lambda part: fold(part) if type(part) is Call else part)
    if order is None and isinstance(value, Literal) and rex.type.root in NUMERIC:
        number = Decimal(value.value)
        if number != int(number) or rex.type.root in APPROXIMATE or (number < 0 and value is rex):
            raise BindError("ROWS takes whole numbers that are not negative", bound.offset.span)
    return value


def _check_type(t: LogicalType, order: Sequence[LogicalType] | None, span: Span) -> None:
    is_number = t.root in NUMERIC
    if not is_number and (not is_interval(t) or is_year_month(t)):
        raise BindError(f"a bound of ROWS or RANGE is a number or an interval of days or less, not a {t.root}", span)
    for ordered in order or ():
        if (ordered.root in NUMERIC and not is_number) or (ordered.root in DATETIME and is_number):
            hint = "use an interval" if is_number else "use a number"
            raise BindError(f"a bound of RANGE does not fit an ORDER BY of type {ordered.regular()}", span, hint)

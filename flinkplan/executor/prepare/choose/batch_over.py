"""OVER windows of batch mode: each row, followed by aggregates over the rows around it.

Source of the rules: Flink's ``BatchExecOverAggregate``.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ....plan.document import Plan
from ....plan.errors import UnsupportedError
from ....plan.nodes import BatchOverAggregate, OverAggregate
from ....plan.record import Record
from ....plan.rex import InputRef, Literal
from ....plan.specs import AggregateCall, OverBound, OverGroup, OverSpec, SortField
from ....plan.types import INTEGERS, TIMESTAMPS, LogicalType
from ...aggregate_functions import check_calls, function_name
from ...jvm.types import is_year_month
from ..known.native_calls import is_native_call
from ..query import QueryPlan, chooser
from ..steps import Native

RANKING = frozenset(("ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE"))
"""Functions that depend on the place of a row in its partition, whatever the frame is."""
SHIFTED = frozenset(("LEAD", "LAG"))
"""Functions that return the value of another row."""
_NATIVE_FUNCTIONS = frozenset(("COUNT", "SUM", "$SUM0", "MIN", "MAX"))

_MOST_DIGITS = 18
"""Decimals of so many digits are whole numbers of 64 bits when they are multiplied by a power of ten."""
_MICROS, _DAY = 1000, 86_400_000


class Frame(Record):
    """The rows around a row.

    ``lower`` and ``upper``: the first and the last row, relative to it; ``None``: unbounded.  They count rows if
    ``by_rows``, else units of :func:`range_scale` of the column that rows are ordered by.
    """

    by_rows: bool
    lower: int | None
    upper: int | None

    @property
    def is_by_value(self) -> bool:
        """Whether a bound is a distance in the values that rows are ordered by."""
        return not self.by_rows and bool(self.lower or self.upper)


class FramedCall(Record):
    """A call over frames; ``frame``: ``None`` for functions that have none.  ``is_native``: Spark has the function."""

    call: AggregateCall
    order: tuple[SortField, ...]
    frame: Frame | None
    is_native: bool


class NativeOver(Native, kw_only=True):
    """Spark's own window operator.

    ``order``: that of the rows of a partition.  ``nets``: of a changelog, over the rows that stay.
    """

    partition: tuple[int, ...]
    order: tuple[SortField, ...]
    calls: tuple[FramedCall, ...]
    nets: bool = False

    @property
    def notes(self) -> tuple[str, ...]:
        own = dict.fromkeys(function_name(framed.call) for framed in self.calls if not framed.is_native)
        return (f"{', '.join(name or 'functions of the user' for name in own)} by our accumulators",) if own else ()


def check_over(node: BatchOverAggregate | OverAggregate, plan: Plan, options: Mapping[str, str]) -> None:
    """Raise :class:`UnsupportedError` for a function or a frame that is not executed."""
    (source,) = plan.inputs(node)
    calls = [call for group in node.over_spec.groups for call in group.agg_calls]
    check_calls(call for call in calls if function_name(call) not in RANKING | SHIFTED)
    for group in node.over_spec.groups:
        for call in group.agg_calls:
            _framed(call, group, node.over_spec, source.output_type)
            if function_name(call) in SHIFTED:
                shift_of(call, node.over_spec)


@chooser(BatchOverAggregate, check=check_over)
def over_aggregate(node: BatchOverAggregate, query: QueryPlan) -> NativeOver:
    """Spark's own window operator."""
    return native_over(node, query)


def native_over(node: BatchOverAggregate | OverAggregate, query: QueryPlan) -> NativeOver:
    """Spark's own window operator, with our accumulators for functions that Spark does not have."""
    spec, row = node.over_spec, query.input(node).output_type
    calls = [_framed(call, group, spec, row) for group in spec.groups for call in group.agg_calls]
    return NativeOver(
        operators="Window",
        why="all rows are there",
        shuffle=query.keys(node),
        partition=spec.partition.fields,
        order=max((group.order_by.fields for group in spec.groups), key=len),
        calls=tuple(calls),
        nets=query.must_net(query.input(node)),
    )


def _framed(call: AggregateCall, group: OverGroup, spec: OverSpec, row: LogicalType) -> FramedCall:
    name, order = function_name(call), group.order_by.fields
    if name in RANKING | SHIFTED:
        return FramedCall(call, order, None, True)
    bounds = [_bound(bound, group, spec, row) for bound in (group.lower_bound, group.upper_bound)]
    has_constants = any(index >= len(row.fields) for index in call.arg_list)
    is_native = name in _NATIVE_FUNCTIONS and not call.is_distinct and not has_constants and is_native_call(call, row)
    return FramedCall(call, order, Frame(group.is_rows, *bounds), is_native)


def _bound(bound: OverBound, group: OverGroup, spec: OverSpec, row: LogicalType) -> int | None:
    """A bound of a frame as in :class:`Frame`.  Raises :class:`UnsupportedError` for one that is not executed."""
    if bound.kind in ("UNBOUNDED_PRECEDING", "UNBOUNDED_FOLLOWING"):
        return None
    if bound.kind == "CURRENT_ROW":
        return 0
    offset = bound.offset
    if isinstance(offset, InputRef):
        offset = constant_at(spec, offset.index)
    if not isinstance(offset, Literal) or is_year_month(offset.type):
        raise UnsupportedError("this bound of a frame: only constants are, other than of months and years")
    try:
        distance = Fraction(str(offset.value))
    except ValueError:
        raise UnsupportedError(f"the bound {offset.value} of a frame") from None
    if not group.is_rows:
        if len(group.order_by.fields) != 1:
            raise UnsupportedError("a frame bounded by values, in an order of other than one column")
        distance *= range_scale(row.field_types[group.order_by.fields[0].index])
    if distance != int(distance):
        raise UnsupportedError("a frame whose bound is no whole number of units of the column")
    return -int(distance) if bound.is_preceding else int(distance)


def range_scale(t: LogicalType) -> Fraction:
    """By what the distance between values of a type is multiplied so that it is a whole number.

    Raises :class:`UnsupportedError` for a type whose values have no distance.
    """
    if t.root in INTEGERS or t.root in ("FLOAT", "DOUBLE", "TIME"):
        return Fraction(1)
    if t.root in TIMESTAMPS:
        return Fraction(_MICROS)
    if t.root == "DATE":
        return Fraction(1, _DAY)
    if t.root == "DECIMAL" and (t.precision or 0) <= _MOST_DIGITS:
        return Fraction(10 ** (t.scale or 0))
    raise UnsupportedError(f"a frame with a bound by the values of a column of the type {t}")


def constant_at(spec: OverSpec, index: int) -> Literal | None:
    """The constant that an argument or bound refers to; ``None`` if it refers to a column."""
    number = index - spec.original_input_fields
    constant = spec.constants[number] if 0 <= number < len(spec.constants) else None
    return constant if isinstance(constant, Literal) else None


def shift_of(call: AggregateCall, spec: OverSpec) -> int:
    """How many rows ahead LEAD and LAG look; LAG looks back.

    Raises :class:`UnsupportedError` for a number that is not constant.
    """
    ahead = 1
    if len(call.arg_list) > 1:
        constant = constant_at(spec, call.arg_list[1])
        if constant is None:
            raise UnsupportedError(f"{function_name(call)} by the number of rows in a column", hint="give a constant")
        ahead = int(str(constant.value))
    return ahead if function_name(call) == "LEAD" else -ahead

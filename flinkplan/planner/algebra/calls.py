"""Calls of aggregate functions, by the functions' declarations."""

from __future__ import annotations

from collections.abc import Iterable

from ...plan.functions import Function
from ...plan.record import replace
from ...plan.specs import AggregateCall
from ...plan.types import LogicalType


def aggregate_call(
    function: Function,
    arguments: Iterable[int],
    of: LogicalType,
    *,
    name: str | None = None,
    filter_arg: int = -1,
    distinct: bool = False,
    ignore_nulls: bool = False,
) -> AggregateCall:
    """The call of a function on columns, with a result of that type."""
    return AggregateCall(
        name=name,
        syntax=function.syntax,
        internal_name=function.internal_name,
        arg_list=tuple(arguments),
        filter_arg=filter_arg,
        distinct=distinct,
        approximate=False,
        ignore_nulls=ignore_nulls,
        type=of,
    )


def is_of(call: AggregateCall, *functions: Function) -> bool:
    """Whether it is a call of one of the functions."""
    return any(call.internal_name == function.internal_name for function in functions)


def of_function(call: AggregateCall, function: Function, of: LogicalType) -> AggregateCall:
    """The call of another function on the same columns, which nobody has named."""
    return replace(call, name=None, syntax=function.syntax, internal_name=function.internal_name, type=of)

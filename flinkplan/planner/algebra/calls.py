"""Calls of aggregate functions, by the functions' declarations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...plan.functions import Function
from ...plan.functions.user import FunctionName, PythonFunction, UserFunction, called_python
from ...plan.record import replace
from ...plan.specs import AggregateCall
from ...plan.types import LogicalType


def aggregate_call(
    function: Function,
    arguments: Iterable[int],
    result_type: LogicalType,
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
        internal_name=function.internal_name or None,
        **_user_name(function),
        arg_list=tuple(arguments),
        filter_arg=filter_arg,
        distinct=distinct,
        approximate=False,
        ignore_nulls=ignore_nulls,
        type=result_type,
    )


def _user_name(function: Function) -> dict[str, FunctionName]:
    """The name of a user's function, by the field of a call that has it."""
    if not isinstance(function, UserFunction):
        return {}
    names = {}
    for key, field in (("systemName", "system_name"), ("catalogName", "catalog_name"), ("class", "class_")):
        if key in function.reference:
            names[field] = name = FunctionName(function.reference[key])
            name.function = function
    return names


def python_calls(calls: Iterable[AggregateCall]) -> list[PythonFunction]:
    """The Python functions among those that are called."""
    functions = (called_python(c.system_name or c.catalog_name or c.class_) for c in calls)
    return [function for function in functions if function is not None]


def is_call_of(call: AggregateCall, *functions: Function) -> bool:
    """Whether the call is one of one of these functions."""
    return any(call.internal_name == function.internal_name for function in functions)


def with_function(call: AggregateCall, function: Function, result_type: LogicalType) -> AggregateCall:
    """The call with another function and type, on the same columns and without a name."""
    return replace(call, name=None, syntax=function.syntax, internal_name=function.internal_name, type=result_type)


def remap_calls(
    calls: Iterable[AggregateCall], indexes: Sequence[int] | Mapping[int, int]
) -> tuple[AggregateCall, ...]:
    """The calls over another input, where column ``i`` of the old input is column ``indexes[i]``."""
    return tuple(
        replace(
            c,
            arg_list=tuple(indexes[a] for a in c.arg_list),
            filter_arg=indexes[c.filter_arg] if c.filter_arg >= 0 else -1,
        )
        for c in calls
    )

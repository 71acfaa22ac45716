"""The accumulators in Java that compute aggregate calls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...plan.savepoint.accumulators import accumulator_names
from ...plan.specs import AggregateCall
from ...plan.types import LogicalType
from ..aggregate_functions import ACCUMULATORS, Arguments, function_name, java_function
from ..jvm.types import spark_type
from .context import TranslationContext
from .java_functions import aggregate_accumulator
from .kernels import int_array, java_type, object_array
from .stream import Stream


def accumulator(
    context: TranslationContext,
    call: AggregateCall,
    columns: Sequence[int],
    types: Sequence[LogicalType],
    stream: Stream,
) -> Any:
    """The accumulator of a call over a kernel's ``columns``; :func:`check_calls` has let it pass."""
    own = java_function(call)
    if own is not None:
        return aggregate_accumulator(context, own, columns, types)
    arguments = Arguments(
        call,
        columns,
        types,
        stream.changelog,
        context.runtime.aggregate,
        lambda t: java_type(context, spark_type(t)),
        partial(int_array, context),
    )
    return ACCUMULATORS[function_name(call)](arguments)


def java_calls(
    context: TranslationContext,
    schema: Any,
    stream: Stream,
    calls: Sequence[AggregateCall],
    position: dict[int, int],
    slices: int | None = None,
) -> Any:
    """The calls as the kernel has them, named by what they compute, so that their state is found again.

    ``slices``: the kernel's column of the slices that windows are made of; that of the parts of these is the next.
    """
    package = context.runtime.aggregate
    java_calls = []
    for call, name in zip(calls, accumulator_names(calls, stream.type.fields), strict=True):
        arguments = [position[i] for i in call.arg_list]
        function = accumulator(context, call, arguments, [stream.type.field_types[i] for i in call.arg_list], stream)
        if slices is not None:
            function = package.Sliced.of(function, slices)
        if call.is_distinct:
            function = package.Distinct(function, schema, int_array(context, arguments), stream.changelog)
        condition = position[call.filter_arg] if call.filter_arg >= 0 else -1
        java_calls.append(package.Call(name, function, condition))
    return object_array(context, package.Call, java_calls)

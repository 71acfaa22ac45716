"""The arguments of JSON_OBJECTAGG and JSON_ARRAYAGG as JSON texts.

Source: ``WrapJsonAggFunctionArgumentsRule``.
"""

from __future__ import annotations

from ....plan.functions.aggregate import JSON_ARRAYAGG, JSON_OBJECTAGG
from ....plan.functions.json import JSON_STRING
from ....plan.record import replace
from ....plan.specs import AggregateCall
from ...algebra.builders import append_columns
from ...algebra.logical import Aggregate
from ...algebra.rel import Rel
from ...rex.expressions import identity
from ..rule import rule

_VALUE = {
    **{function.internal_name: 0 for function in JSON_ARRAYAGG.values()},
    **{function.internal_name: 1 for function in JSON_OBJECTAGG.values()},
}
"""The position of the value among the arguments."""


@rule(on=Aggregate)
def wrap_json_arguments(rel: Aggregate) -> Rel:
    """Each collected value is converted to JSON text, in an additional column of the input."""
    values = sorted({call.arg_list[_VALUE[call.internal_name]] for call in rel.calls if call.internal_name in _VALUE})
    if not values:
        return rel
    inputs = identity(rel.input.types)
    texts = {value: len(inputs) + at for at, value in enumerate(values)}
    source = append_columns(rel.input, [JSON_STRING.call(inputs[value]) for value in values])
    return replace(rel, input=source, calls=tuple(_over_text(call, texts) for call in rel.calls))


def _over_text(call: AggregateCall, texts: dict[int, int]) -> AggregateCall:
    position = _VALUE.get(call.internal_name or "")
    if position is None:
        return call
    arguments = list(call.arg_list)
    arguments[position] = texts[arguments[position]]
    return replace(call, arg_list=tuple(arguments))

"""The layout of an operator's state in a savepoint of Flink: keys and states, with the types of their values in order.

Flink restores a state if the serializers are compatible.  The serializer of rows compares only the types of the values
by position, with their nullability; it knows neither names nor meanings.  So each value here has a type, without whose
match Flink refuses to start, and an origin, without whose match Flink would take one value for another.
Source: the state descriptors of Flink's runtime operators, ``RowDataSerializer.RowDataSerializerSnapshot``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..accumulator_columns import is_count_star, parts
from ..errors import UnsupportedError
from ..functions.aggregate import COUNT
from ..record import Record
from ..specs import AggregateCall
from ..types import WITH_LENGTH, LogicalType, RowField
from .flink_states import distinct_view

Inputs = Sequence[Sequence[RowField]]
"""The columns of each input of a node."""


class Column(Record):
    """The value is a column of an input; ``side`` is the number of the input."""

    side: int
    index: int


class Argument(Record):
    """The value is a column that an aggregate call reads."""

    index: int


class Part(Record):
    """The value is part of the accumulator of an aggregate call."""

    call: AggregateCall
    number: int


class Value(Record):
    """A value in state: its type as Flink compares it, and its origin if it has one."""

    type: str
    origin: Column | Argument | Part | None = None


class KeptState(Record):
    """A state with its name in the savepoint; ``form`` describes its data structure."""

    name: str
    values: tuple[Value, ...] = ()
    form: str = "a row"


class Layout(Record):
    """The state of one operator; ``namespace`` describes the namespace of states, such as windows, if there is one."""

    transformation: str
    key: tuple[Value, ...]
    states: tuple[KeptState, ...]
    namespace: str = ""


COUNT_STAR = AggregateCall(
    name=None,
    syntax=COUNT.syntax,
    internal_name=COUNT.internal_name,
    arg_list=(),
    filter_arg=-1,
    distinct=False,
    approximate=False,
    ignore_nulls=False,
    type=LogicalType("BIGINT", nullable=False),
)
"""The COUNT(*) that Flink adds if rows may be retracted."""

_MAX_CALLS_PER_COUNTER = {True: 1, False: 64}
"""How many DISTINCT calls over the same columns can share one number for each value, with and without retractions."""


def written(t: LogicalType) -> str:
    """A type as serializers compare it: a time attribute is a plain timestamp."""
    return str(t.regular()) if t.raw is None else f"{t.root} {t.field_types} {dict(t.raw)}"


def columns(inputs: Inputs, side: int = 0, only: Sequence[int] | None = None) -> tuple[Value, ...]:
    """The columns of an input, or those at the positions ``only``; invalid positions are left out."""
    fields = inputs[side] if side < len(inputs) else ()
    positions = range(len(fields)) if only is None else only
    return tuple(Value(written(fields[i].type), Column(side, i)) for i in positions if 0 <= i < len(fields))


def types_of(fields: Sequence[RowField]) -> list[LogicalType]:
    """The types of columns."""
    return [field.type for field in fields]


def accumulated(
    name: str,
    calls: Sequence[AggregateCall],
    retract: Sequence[bool],
    types: Sequence[LogicalType],
    count_rows: bool,
) -> tuple[KeptState, ...]:
    """The state ``name`` with the accumulators of calls over columns of these types, and the states of their views.

    With ``count_rows`` a COUNT(*) is added unless a call is one.
    """
    values = [
        Value(part, Part(call, number))
        for call, retracts in zip(calls, retract, strict=False)
        for number, part in enumerate(_part_types(call, retracts, types))
    ]
    if count_rows and not any(map(is_count_star, calls)):
        values.append(Value("BIGINT", Part(COUNT_STAR, 0)))
    views = tuple(distinct_views(calls, types, count_rows))
    values += [Value("distinct values")] * len(views)
    return (KeptState(name, tuple(values)), *views)


def distinct_views(calls: Sequence[AggregateCall], types: Sequence[LogicalType], retracts: bool) -> Iterator[KeptState]:
    """The distinct values seen so far, which all DISTINCT calls over the same columns share."""
    calls_by_arguments: dict[tuple[int, ...], list[AggregateCall]] = {}
    for call in calls:
        if call.is_distinct:
            calls_by_arguments.setdefault(call.arg_list, []).append(call)
    for number, (args, sharing_calls) in enumerate(calls_by_arguments.items()):
        positions = [i for i in args if 0 <= i < len(types)]
        share_counter = len(sharing_calls) <= _MAX_CALLS_PER_COUNTER[retracts]
        form = "a number for each value" if share_counter else "numbers for each value"
        write = written if len(args) > 1 else _serialized
        yield KeptState(distinct_view(number), tuple(Value(write(types[i]), Argument(i)) for i in positions), form)


def _serialized(t: LogicalType) -> str:
    """A type as the serializer of a single value compares it: without nullability and without the length of texts."""
    return t.root if t.root in WITH_LENGTH else written(t.nullable_())


def _part_types(call: AggregateCall, retracts: bool, types: Sequence[LogicalType]) -> list[str]:
    """The types of an accumulator's values; for an unknown function, everything that they may depend on."""
    try:
        return [written(t) for _, t in parts(call, retracts, types)]
    except (UnsupportedError, IndexError):
        function = call.internal_name or call.catalog_name or call.system_name or call.class_
        arguments = ", ".join(written(types[i].nullable_()) for i in call.arg_list if 0 <= i < len(types))
        return [f"{function}({arguments}){' with retractions' if retracts else ''}"]

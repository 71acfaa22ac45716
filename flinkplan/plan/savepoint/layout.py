"""What an operator of Flink writes into a savepoint: keys and states, with the types of their values in order.

Flink restores a state where the serializers agree.  Those of rows compare the types of all values by position, with
their nullability, and nothing else: no names, and not what a value is.  So each value has a type here, without which
Flink refuses to start, and an origin, without which it reads one value as another.
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

Inputs = Sequence[Sequence[RowField]]
"""The columns of each input of a node."""


class Column(Record):
    """A column of an input is written down; ``side`` is the input's number."""

    side: int
    index: int


class Argument(Record):
    """A column that an aggregate call reads is written down."""

    index: int


class Part(Record):
    """A value of the accumulator of an aggregate call is written down."""

    call: AggregateCall
    number: int


class Value(Record):
    """A value in state: its type as Flink compares it and where it comes from, if from anywhere."""

    type: str
    origin: Column | Argument | Part | None = None


class KeptState(Record):
    """A state by its name in the savepoint; ``form`` is what else the serializer is made of."""

    name: str
    values: tuple[Value, ...] = ()
    form: str = "a row"


class Layout(Record):
    """What one operator keeps; ``namespace`` says what states are kept by beside the key, such as windows."""

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
"""The count that Flink adds where rows may be taken back."""

_COUNTS_AT_ONCE = {True: 1, False: 64}
"""How many DISTINCT calls over one column share a number for each value, with and without retractions."""


def written(t: LogicalType) -> str:
    """A type as far as serializers compare it: time attributes are timestamps."""
    return str(t.regular()) if t.raw is None else f"{t.root} {t.field_types} {dict(t.raw)}"


def columns(inputs: Inputs, side: int = 0, only: Sequence[int] | None = None) -> tuple[Value, ...]:
    """Columns of an input, all of them unless ``only`` lists positions; what is no column is left out."""
    fields = inputs[side] if side < len(inputs) else ()
    chosen = range(len(fields)) if only is None else only
    return tuple(Value(written(fields[i].type), Column(side, i)) for i in chosen if 0 <= i < len(fields))


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
    """The accumulators of calls over columns of these types, in the state ``name``, and the views beside them.

    ``count_rows``: a COUNT(*) is added where there is none.
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


def distinct_views(
    calls: Sequence[AggregateCall], types: Sequence[LogicalType], takes_back: bool
) -> Iterator[KeptState]:
    """The values seen so far, which all DISTINCT calls over the same columns share."""
    sharing: dict[tuple[int, ...], list[AggregateCall]] = {}
    for call in calls:
        if call.distinct:
            sharing.setdefault(call.arg_list, []).append(call)
    for number, (args, its) in enumerate(sharing.items()):
        known = [i for i in args if 0 <= i < len(types)]
        form = "a number for each value" if len(its) <= _COUNTS_AT_ONCE[takes_back] else "numbers for each value"
        write = written if len(args) > 1 else _serialized
        yield KeptState(f"distinctAcc_{number}", tuple(Value(write(types[i]), Argument(i)) for i in known), form)


def _serialized(t: LogicalType) -> str:
    """A type as far as the serializer of a single value differs by it: not by NULL, nor by the length of texts."""
    return t.root if t.root in WITH_LENGTH else written(t.nullable_())


def _part_types(call: AggregateCall, retracts: bool, types: Sequence[LogicalType]) -> list[str]:
    """The types of an accumulator's values; of a function that is not looked into, all that they may depend on."""
    try:
        return [written(t) for _, t in parts(call, retracts, types)]
    except (UnsupportedError, IndexError):
        function = call.internal_name or call.catalog_name or call.system_name or call.class_
        arguments = ", ".join(written(types[i].nullable_()) for i in call.arg_list if 0 <= i < len(types))
        return [f"{function}({arguments}){' with retractions' if retracts else ''}"]

"""The origin of each output column of a node.

Each node class declares them (:meth:`.nodes.base.ExecNode.yields`).  They tell how many columns the node has, which of
them are columns of its inputs, and whether columns of two plans mean the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .record import Record
from .rex import RexNode
from .savepoint.layout import Inputs
from .specs import AggregateCall, JoinSpec, JoinType, NamedWindowProperty


class InputColumn(Record):
    """A column of an input, unchanged."""

    side: int
    index: int


class UnionColumn(Record):
    """The same column of all inputs."""

    index: int


class Computed(Record):
    """An expression over the inputs' columns."""

    expression: RexNode


class OneOf(Record):
    """One of several expressions over the input's columns, row by row."""

    expressions: tuple[RexNode, ...]


class FunctionColumn(Record):
    """A column of a table function's result."""

    call: RexNode
    index: int


class Aggregated(Record):
    """An aggregate over the rows of a group."""

    call: AggregateCall


class OverAggregated(Record):
    """An aggregate over the frame of an OVER window."""

    call: AggregateCall


class Accumulator(Record):
    """A column of the accumulators of these calls."""

    calls: tuple[AggregateCall, ...]
    index: int


class WindowProperty(Record):
    """A property of the window: its start, end or time attribute."""

    kind: str


class SliceEnd(Record):
    """The end of the slice that an accumulator belongs to."""


class TableColumn(Record):
    """A column of the table that is read."""

    name: str


class AddedColumn(Record):
    """A column that the node adds, such as a rank; it is identified by its name."""


Yield = (
    InputColumn
    | UnionColumn
    | Computed
    | OneOf
    | FunctionColumn
    | Aggregated
    | OverAggregated
    | Accumulator
    | WindowProperty
    | SliceEnd
    | TableColumn
    | AddedColumn
)


def input_columns(inputs: Inputs, only: Sequence[int] | None = None) -> Iterator[InputColumn]:
    """The columns of all inputs side by side, or those at the positions ``only`` of the first input."""
    if only is not None:
        return (InputColumn(0, index) for index in only)
    return (InputColumn(side, index) for side, fields in enumerate(inputs) for index in range(len(fields)))


def joined_columns(spec: JoinSpec, inputs: Inputs) -> Iterator[InputColumn]:
    """The columns of a join: those of both sides, or of the left side for SEMI and ANTI."""
    return input_columns(inputs[:1] if spec.join_type in (JoinType.SEMI, JoinType.ANTI) else inputs)


def ranks(are_written: bool) -> tuple[AddedColumn, ...]:
    """The column with the rank, if the node writes it."""
    return (AddedColumn(),) if are_written else ()


def windowed(
    inputs: Inputs,
    grouping: Sequence[int],
    calls: Sequence[AggregateCall],
    properties: Sequence[NamedWindowProperty],
) -> tuple[Yield, ...]:
    """The columns of a window aggregation: keys, aggregates and window properties."""
    window_properties = (WindowProperty(named.property.kind) for named in properties)
    return (*input_columns(inputs, grouping), *map(Aggregated, calls), *window_properties)

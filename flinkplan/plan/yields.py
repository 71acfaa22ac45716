"""What the output columns of a node are made of, each by its origin.

A node says it of itself (:meth:`.nodes.base.ExecNode.yields`): from it follow how many columns it has, which of them
are those of its inputs, and what two columns of two plans have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .record import Record
from .rex import RexNode
from .savepoint.layout import Inputs
from .specs import AggregateCall, JoinSpec, JoinType, NamedWindowProperty


class Given(Record):
    """A column of an input, as it is."""

    side: int
    index: int


class Merged(Record):
    """The same column of all inputs."""

    index: int


class Computed(Record):
    """An expression over the inputs' columns."""

    expression: RexNode


class OneOf(Record):
    """One of several expressions over the input's columns, row by row."""

    expressions: tuple[RexNode, ...]


class FunctionColumn(Record):
    """A column of what a table function yields."""

    call: RexNode
    index: int


class Aggregated(Record):
    """An aggregate over the rows of a group."""

    call: AggregateCall


class Framed(Record):
    """An aggregate over the frame of an OVER window."""

    call: AggregateCall


class Accumulator(Record):
    """A part of the accumulators of these calls."""

    calls: tuple[AggregateCall, ...]
    index: int


class WindowProperty(Record):
    """What the window tells of itself: its start, end or time attribute."""

    kind: str


class SliceEnd(Record):
    """The end of the slice that an accumulator is of."""


class TableColumn(Record):
    """A column of the table that is read."""

    name: str


class Added(Record):
    """A column that the node adds, such as a rank; it is known by its name."""


Yield = (
    Given
    | Merged
    | Computed
    | OneOf
    | FunctionColumn
    | Aggregated
    | Framed
    | Accumulator
    | WindowProperty
    | SliceEnd
    | TableColumn
    | Added
)


def given(inputs: Inputs, only: Sequence[int] | None = None) -> Iterator[Given]:
    """The columns of all inputs side by side, or those at some positions of the first."""
    if only is not None:
        return (Given(0, index) for index in only)
    return (Given(side, index) for side, fields in enumerate(inputs) for index in range(len(fields)))


def joined_columns(spec: JoinSpec, inputs: Inputs) -> Iterator[Given]:
    """The columns of a join: of both sides, or of the left one alone."""
    return given(inputs[:1] if spec.join_type in (JoinType.SEMI, JoinType.ANTI) else inputs)


def ranks(are_written: bool) -> tuple[Added, ...]:
    """The column of ranks, where there is one."""
    return (Added(),) if are_written else ()


def windowed(
    inputs: Inputs,
    grouping: Sequence[int],
    calls: Sequence[AggregateCall],
    properties: Sequence[NamedWindowProperty],
) -> tuple[Yield, ...]:
    """The columns of an aggregation in windows: keys, aggregates, and what is told of the window."""
    told = (WindowProperty(named.property.kind) for named in properties)
    return (*given(inputs, grouping), *map(Aggregated, calls), *told)

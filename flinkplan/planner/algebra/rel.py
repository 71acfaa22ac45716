"""Relations, and what the operators of both algebras share: their inputs and their columns."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cache
from operator import is_

from ...plan.functions import Function, called
from ...plan.functions.changelog import process_declaration
from ...plan.functions.process import ProcessArgument, ProcessDeclaration
from ...plan.record import Record, cached_property, replace
from ...plan.rex import Call, RexNode, TableArgument
from ...plan.specs import AggregateCall, JoinType, SortField
from ...plan.types import LogicalType, TimeKind, row
from ..catalog.catalog import Table
from .changes import Changes
from .names import uniquify
from .row_types import WINDOW_BOUND, nullable_types


class Rel(Record, kw_only=True, dict=True):
    """A relational operator over its inputs, which subclasses declare.

    Types and names of its columns are derived from the inputs and the expressions; only operators that name columns
    store names.
    """

    change_trait: Changes | None = None
    """The changes that a physical operator emits, once they are inferred."""

    @property
    def changes(self) -> Changes:
        """The changes that it emits.  Only for physical operators, after the changelog modes are inferred."""
        assert self.change_trait is not None
        return self.change_trait

    @property
    def inputs(self) -> tuple[Rel, ...]:
        return ()

    def over(self, change: Callable[[Rel], Rel]) -> Rel:
        """The relation with ``change`` applied to each input; itself where no input changes."""
        return self

    @property
    def types(self) -> tuple[LogicalType, ...]:
        """The types of the columns."""
        raise NotImplementedError

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        raise NotImplementedError

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.types)

    @cached_property
    def row_type(self) -> LogicalType:
        """The type of the rows."""
        return row(zip(self.names, self.types, strict=True), nullable=False)

    @cached_property
    def classes(self) -> frozenset[type[Rel]]:
        """The classes of the relation and of all below it."""
        return _classes(type(self), *[i.classes for i in self.inputs])

    @cached_property
    def settled(self) -> set[Hashable]:
        """The rewrites, by name, that are known to leave the relation and all below it as they are."""
        return set()


@cache
def _classes(own: type[Rel], *below: frozenset[type[Rel]]) -> frozenset[type[Rel]]:
    """One shared set for all relations with these classes, because comparing identical sets is faster."""
    return frozenset((own,)).union(*below)


class Leaf(Rel, kw_only=True):
    """An operator without inputs: ``fields`` declares its columns."""

    fields: LogicalType

    @property
    def types(self) -> tuple[LogicalType, ...]:
        return self.fields.field_types

    @property
    def names(self) -> tuple[str, ...]:
        return self.fields.field_names


class Unary(Rel, kw_only=True):
    """An operator with one input."""

    input: Rel

    @property
    def inputs(self) -> tuple[Rel, ...]:
        return (self.input,)

    def over(self, change: Callable[[Rel], Rel]) -> Rel:
        new = change(self.input)
        return self if new is self.input else replace(self, input=new)


class SameNames(Unary, kw_only=True):
    """An operator whose columns have the names of its input's."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        return self.input.names


class SameRowType(SameNames, kw_only=True):
    """An operator with the row type of its input."""

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        return self.input.types

    @cached_property
    def row_type(self) -> LogicalType:
        return self.input.row_type


class AssignsWatermark(SameNames, kw_only=True):
    """Makes a column an event-time attribute: ``expr`` is its watermark."""

    rowtime_index: int
    expr: RexNode

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        below = self.input.types
        return tuple([replace(t, kind=TimeKind.ROWTIME) if i == self.rowtime_index else t for i, t in enumerate(below)])


class Binary(Rel, kw_only=True):
    """A join of two inputs."""

    left: Rel
    right: Rel

    @property
    def inputs(self) -> tuple[Rel, ...]:
        return (self.left, self.right)

    def over(self, change: Callable[[Rel], Rel]) -> Rel:
        left, right = change(self.left), change(self.right)
        return self if left is self.left and right is self.right else replace(self, left=left, right=right)

    @property
    def kind(self) -> JoinType:
        """The join type."""
        raise NotImplementedError

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        return joined_types(self.kind, self.left.types, self.right.types)

    @cached_property
    def names(self) -> tuple[str, ...]:
        left = self.left.names
        return left if self.kind in ONE_SIDED else uniquify((*left, *self.right.names))


class Nary(Rel, kw_only=True):
    """An operator with any number of inputs."""

    operands: tuple[Rel, ...]

    @property
    def inputs(self) -> tuple[Rel, ...]:
        return self.operands

    def over(self, change: Callable[[Rel], Rel]) -> Rel:
        new = tuple(map(change, self.operands))
        return self if all(map(is_, new, self.operands)) else replace(self, operands=new)


class NaryJoin(Nary, kw_only=True):
    """A join of several inputs: each input but the first is joined, INNER or LEFT, with all inputs before it.

    Conditions are over the columns of all; ``ttls`` are milliseconds by input.
    """

    kinds: tuple[JoinType, ...]
    conditions: tuple[RexNode, ...]
    ttls: tuple[int | None, ...]
    names: tuple[str, ...]

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        pairs = zip(self.kinds, self.operands, strict=True)
        return tuple([t.nullable_() if kind is JoinType.LEFT else t for kind, o in pairs for t in o.types])


class Correlation(Unary, kw_only=True):
    """Each row with the rows that a table function yields for it (UNNEST, LATERAL TABLE).

    ``call`` reads the outer row through ``CorrelVariable(correl)``; ``function_type`` are its columns.
    """

    type: JoinType
    correl: str
    call: RexNode
    function_type: LogicalType
    condition: RexNode | None = None

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        return joined_types(self.type, self.input.types, self.function_type.field_types)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return uniquify((*self.input.names, *self.function_type.field_names))


class Union(Nary, kw_only=True):
    """The rows of all inputs; a column is nullable where that of any input is."""

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        return nullable_types([o.types for o in self.operands])

    @property
    def names(self) -> tuple[str, ...]:
        return self.operands[0].names


class AssignsWindows(Unary, kw_only=True):
    """Assigns windows to rows: the input's columns, then window_start, window_end, window_time."""

    @property
    def time_type(self) -> LogicalType:
        """The type of the time attribute by which windows are assigned."""
        raise NotImplementedError

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        return (*self.input.types, WINDOW_BOUND, WINDOW_BOUND, self.time_type.not_null())

    @cached_property
    def names(self) -> tuple[str, ...]:
        return (*self.input.names, "window_start", "window_end", "window_time")


class MatchesPattern(Unary, kw_only=True):
    """The matches of a row pattern: the partition columns, then the measures.

    ``pattern``, ``after`` and ``interval`` are as plans have them.
    """

    partition: tuple[int, ...]
    order: tuple[SortField, ...]
    pattern: RexNode
    after: RexNode
    interval: RexNode | None
    subsets: tuple[tuple[str, tuple[str, ...]], ...]
    definitions: tuple[tuple[str, RexNode], ...]
    measures: tuple[tuple[str, RexNode], ...]
    perhaps_null: frozenset[str]
    """Measures whose columns are nullable whatever their expressions say, such as averages, which may be of no rows."""

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        measured = [rex.type.nullable_() if name in self.perhaps_null else rex.type for name, rex in self.measures]
        return (*[self.input.types[i] for i in self.partition], *measured)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return (*[self.input.names[i] for i in self.partition], *[name for name, _ in self.measures])


class CallsTableAggregate(Unary, kw_only=True):
    """Any number of rows for each group: the grouping columns, then those that the function emits."""

    grouping: tuple[int, ...]
    call: AggregateCall
    fields: tuple[str, ...]
    """The names of the columns that the function emits."""

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        emitted = self.call.type.field_types if self.call.type.fields else (self.call.type,)
        return (*[self.input.types[g] for g in self.grouping], *emitted)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return uniquify([*[self.input.names[g] for g in self.grouping], *self.fields], separator="_")


class CallsProcessTable(Nary, kw_only=True):
    """A call of a process table function over tables; ``fields`` declares its columns."""

    call: Call
    fields: LogicalType

    @property
    def types(self) -> tuple[LogicalType, ...]:
        return self.fields.field_types

    @property
    def names(self) -> tuple[str, ...]:
        return self.fields.field_names

    @property
    def tables(self) -> tuple[TableArgument, ...]:
        """The arguments that are tables, in the order of the inputs."""
        return tuple([o for o in self.call.operands if type(o) is TableArgument])

    @property
    def function(self) -> Function:
        """The function that is called."""
        function = called(self.call)
        assert function is not None, "it was bound"
        return function

    @cached_property
    def declaration(self) -> ProcessDeclaration:
        """What the function declares."""
        process = process_declaration(self.call)
        assert process is not None, "it is a process table function"
        return process

    @property
    def declared_tables(self) -> tuple[ProcessArgument, ...]:
        """What the class declares of the tables, in the order of the inputs."""
        pairs = zip(self.declaration.arguments, self.call.operands, strict=False)
        return tuple([argument for argument, operand in pairs if type(operand) is TableArgument])


class WritesTable(SameRowType, kw_only=True):
    """Writes its input into a table; ``target_columns`` where the statement lists columns."""

    table: Table
    overwrite: bool = False
    static_partition: tuple[tuple[str, str], ...] = ()
    target_columns: tuple[int, ...] | None = None
    conflict: str | None = None
    options: tuple[tuple[str, str], ...] = ()


ONE_SIDED = (JoinType.SEMI, JoinType.ANTI)
"""The join types that yield rows of the left side alone."""


LEFT_NULLABLE = (JoinType.RIGHT, JoinType.FULL)


RIGHT_NULLABLE = (JoinType.LEFT, JoinType.FULL)


def joined_types(
    kind: JoinType, left: tuple[LogicalType, ...], right: tuple[LogicalType, ...]
) -> tuple[LogicalType, ...]:
    """The types of a join's columns; those of a side that may have no match are nullable."""
    if kind in LEFT_NULLABLE:
        left = tuple([t.nullable_() for t in left])
    if kind in RIGHT_NULLABLE:
        right = tuple([t.nullable_() for t in right])
    return left if kind in ONE_SIDED else (*left, *right)


def aggregate_names(source: Rel, grouping: Sequence[int], calls: Sequence[AggregateCall]) -> tuple[str, ...]:
    """The names of an aggregation's columns: a call without a name is named by its position."""
    keys = [source.names[g] for g in grouping]
    return uniquify([*keys, *(c.name for c in calls)], separator="_")
